/**
 * Short English sentences of a context-free grammar: reports, instructions and notices in lower case, at most 20 words each.
 * A choice among the alternatives of a rule is uniform. Written for this project, under its licence.
 *
 * Splits: the digest of a sentence decides whether it belongs to `train` (8 of 10), `validation` or `test`, so that no sentence
 * is in two of them. `other` has the words of the same rules in sentence patterns that no other split has.
 */
import { sha256Hex } from "../api.ts";
import { Generator } from "../../lib/numeric/random/random.ts";

export const REPORT_SPLITS = ["train", "validation", "test", "other"] as const;
export type ReportSplit = typeof REPORT_SPLITS[number];

/** Alternatives of a rule, separated by `|`; `<name>` is another rule. */
const RULES: Record<string, string> = {
  sentence: "<weather>.|<traffic>.|<health>.|<cargo>.|<reading>.|<office>.|<market>.|<kitchen>.|<travel>.|<school>.",
  weather: "<strength> <sky> will reach <city> <when>|the forecast for <city> shows <sky> and <strength> wind <when>|" +
    "expect <strength> <sky> over the <land> <when>|<sky> covers the <land> and the temperature falls to <n> degrees|" +
    "a storm brings <strength> <sky> to the <land> near <city> <when>|the <land> stays dry although <sky> is near <city>",
  traffic: "a <vehicle> blocks the <road> in <city> and delays the traffic by <n> minutes|" +
    "the <road> is closed <when> because a <vehicle> and a <vehicle> collided|" +
    "drivers on the <road> wait <n> minutes behind a <colour> <vehicle>|police stop a <colour> <vehicle> on the <road> <when>|" +
    "traffic flows again on the <road> after a <vehicle> was moved|take the <road> since a <vehicle> burns near the <place>",
  health: "the <doctor> gave the patient <n> milligrams of <drug> for pain in the <body>|" +
    "a scan of the <body> shows a <size> fracture and the <doctor> orders rest|the <doctor> will examine the <body> <when>|" +
    "stop the <drug> <n> days before the <body> operation|the patient takes <drug> every <n> hours and sleeps well|" +
    "the <doctor> doubled the <drug> because the <body> still hurts",
  cargo:
    "the <machine> carries the <colour> <item> to the <place> <when>|move <n> <size> boxes from the <place> to the <place>|" +
    "the <machine> waits at the <place> until the <item> arrives|the <colour> <item> is missing and the <machine> must find it|" +
    "bring the <item> and the <item> to the <place>|the <machine> lost a <size> <item> between the <place> and the <place>",
  reading:
    "the <sensor> measured <n> <unit> in the <place> <when>|the <sensor> reports <n> <unit> and an alarm starts|" +
    "the value of the <sensor> rose from <n> to <n> <unit>|replace the <sensor> because it shows <n> <unit> instead of <n>|" +
    "between <n> and <n> <unit> were recorded by the <sensor>|the <sensor> in the <place> lost its signal <when>",
  office:
    "the <person> sends the <paper> to the <person> <when>|the <person> asks for a <quality> <paper> from <city>|" +
    "please read the <paper> before the meeting with the <person>|the meeting about the <paper> starts <when>|" +
    "the <person> and the <person> sign the <paper> in <city>|a <quality> <paper> was lost by the <person> <when>",
  market:
    "the price of <food> rose by <n> percent in <city>|a <person> buys <n> kilograms of <quality> <food> <when>|" +
    "the shop near the <place> sells <quality> <food> and <food>|farmers on the <land> sold <n> tons of <food>|" +
    "<food> costs less than <food> <when>|the <person> pays <n> coins for the <colour> <item>",
  kitchen: "cook the <food> with <food> for <n> minutes|the <person> serves <quality> <food> and <food> <when>|" +
    "put <n> grams of <food> in a <size> pot|wash the <food> before you add the <food>|" +
    "the <person> likes <food> but never eats <food>|there is <quality> <food> on the <colour> table",
  travel: "the <vehicle> to <city> leaves <when>|a <person> travels from <city> to <city> by <vehicle>|" +
    "the <person> reaches the <land> near <city> after <n> hours|the <colour> <vehicle> stops at the <place> in <city>|" +
    "we walked over the <land> and saw a <size> <animal>|tickets from <city> to <city> cost <n> coins <when>",
  school:
    "the <person> teaches <n> children about the <animal> and the <animal>|a <size> <animal> sleeps behind the <place>|" +
    "children draw a <colour> <animal> in the <place>|the <animal> eats <food> and hides in the <land>|" +
    "the <person> saw a <colour> <animal> on the <land> <when>|every <animal> is afraid of the <size> <animal>",
  // Patterns of the split `other`.
  other: "<when> the <person> found a <size> <item> near the <road>.|in <city> the <doctor> likes <quality> <food>.|" +
    "the <animal> and the <machine> wait behind the <colour> <vehicle>.|<n> patients travel over the <land> to the <place>.|" +
    "because of <sky> the <sensor> was moved to <city>.|the <vehicle> with <n> boxes of <drug> stops <when>.|" +
    "a <colour> <paper> about <food> is missing in the <place>.|the <person> carries a <sensor> from <city> to the <land>.|" +
    "after the operation the <person> eats <food> with the <doctor>.|<strength> wind moved the <item> over the <road>.",
  strength: "heavy|light|strong|weak|sudden|steady|severe|gentle",
  sky: "rain|snow|fog|hail|thunder|drizzle|sleet|frost|haze|sunshine",
  city:
    "lisbon|oslo|turin|bergen|porto|graz|lyon|cork|malmo|basel|ghent|split|riga|vienna|madrid|athens|dublin|warsaw|" +
    "prague|zurich|milan|berlin|paris|london",
  land: "coast|valley|forest|desert|river|lake|mountain|island|plain|hills|meadow|swamp",
  when: "<day>|<hour>|<day> <hour>|<late>",
  day: "on monday|on tuesday|on wednesday|on thursday|on friday|on saturday|on sunday",
  hour: "at noon|at dawn|at midnight|at sunset|in the morning|in the evening|at night",
  late: "today|tomorrow|soon|this week|next month|every winter|all summer",
  n: "two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|sixty",
  vehicle: "lorry|bus|van|tram|car|trailer|motorbike|tanker|taxi|bicycle|truck|ferry|tractor|train",
  road: "bridge|tunnel|highway|ring road|crossing|junction|avenue|old street|lane|ramp",
  colour: "red|green|blue|yellow|black|white|grey|brown|orange|purple",
  place:
    "station|harbour|warehouse|airport|hospital|library|factory|garage|garden|market hall|school|tower|basement|castle",
  doctor: "doctor|nurse|surgeon|dentist|specialist|assistant",
  drug: "insulin|aspirin|penicillin|morphine|cortisone|ibuprofen|codeine|antibiotics|vitamins|iron",
  body: "knee|hip|shoulder|wrist|ankle|heart|lung|spine|elbow|kidney|jaw|hand",
  size: "small|large|tiny|huge|short|long|narrow|wide",
  machine: "robot|crane|forklift|drone|shuttle|loader|cart|conveyor",
  item: "toolbox|pallet|motor|crate|cable|panel|barrel|parcel|pump|ladder|engine|battery|mirror|chair|lamp|carpet",
  sensor: "sensor|probe|meter|logger|gauge|detector|antenna|camera|radar|scale",
  unit: "volts|pascals|decibels|amperes|hertz|watts|litres|metres|seconds|joules",
  person:
    "manager|farmer|teacher|engineer|lawyer|student|painter|baker|driver|pilot|sailor|writer|singer|gardener|judge|" +
    "minister|soldier|tailor|banker|doctor",
  paper: "report|contract|letter|invoice|plan|budget|map|proposal|list|article|drawing|law",
  quality: "good|bad|fresh|cheap|new|old|rare|plain|fine|secret",
  food:
    "bread|rice|butter|cheese|apples|onions|potatoes|fish|honey|salt|sugar|beans|olives|carrots|mushrooms|soup|milk|" +
    "pepper|eggs|grapes",
  animal: "dog|cat|horse|wolf|bear|owl|fox|rabbit|snake|eagle|sheep|goat|beetle|whale|donkey|swan",
};

const ALTERNATIVES = new Map(Object.entries(RULES).map(([name, text]) => [name, text.split("|")]));
/** First values of the seeds of the splits. */
const SEEDS: Record<ReportSplit, number> = { train: 7100, validation: 7200, test: 7300, other: 7400 };
/** Last hexadecimal digits of the digests of the splits of one pattern. */
const DIGITS = { train: "23456789abcdef", validation: "0", test: "1" };

function expand(name: string, generator: Generator): string {
  const alternatives = ALTERNATIVES.get(name)!;
  const chosen = alternatives[Math.floor(generator.random() * alternatives.length)];
  return chosen.replace(/<(\w+)>/g, (_, rule: string) => expand(rule, generator));
}

/** The first sentences of a split, all different. */
export function reportSentences(split: ReportSplit, count: number): string[] {
  const generator = Generator.seeded(SEEDS[split]), found = new Set<string>();
  while (found.size < count) {
    const text = expand(split === "other" ? "other" : "sentence", generator).replace(/\ba (?=[aeiou])/g, "an ");
    if (split === "other" || DIGITS[split].includes(sha256Hex(text).slice(-1))) found.add(text);
  }
  return [...found];
}
