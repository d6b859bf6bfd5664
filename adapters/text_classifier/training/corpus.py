"""A corpus of short reports in five classes, made from our own templates.

Templates are split, not sentences: no test sentence shares its template with a training sentence, and a third of the words
that fill the gaps appears in the test split only. So the held-out accuracy measures generalisation to new wordings, within
this small corpus only.
"""

import numpy as np

LABELS = ["health", "logistics", "measurement", "traffic", "weather"]

GAPS = {
    "city": ["Lisbon", "Oslo", "Turin", "Bergen", "Porto", "Graz", "Lyon", "Cork", "Malmo", "Basel", "Ghent", "Split"],
    "n": ["3", "7", "12", "15", "20", "25", "40", "45", "60", "75", "90", "110"],
    "time": ["noon", "dawn", "midnight", "eight", "nine", "Monday", "Friday", "tonight", "sunrise", "evening", "ten", "dusk"],
    "road": ["Harbour Bridge", "Mill Road", "ring road", "A7", "Station Street", "North Tunnel", "Castle Lane", "E18",
             "Market Square", "river crossing", "airport junction", "Old Quay"],
    "vehicle": ["lorry", "bus", "van", "tram", "car", "trailer", "coach", "motorbike", "tanker", "taxi", "cyclist", "truck"],
    "doctor": ["Doctor Okafor", "Doctor Lind", "Doctor Ruiz", "Nurse Adeyemi", "Doctor Chen", "Doctor Novak", "Nurse Berg",
               "Doctor Haddad", "Surgeon Blom", "Doctor Mbeki", "Nurse Costa", "Doctor Weiss"],
    "drug": ["ibuprofen", "paracetamol", "amoxicillin", "insulin", "aspirin", "penicillin", "codeine", "cortisone", "morphine",
             "antihistamine", "warfarin", "naproxen"],
    "body": ["knee", "hip", "shoulder", "wrist", "ankle", "heart", "lung", "spine", "elbow", "kidney", "jaw", "thyroid"],
    "robot": ["Robot Unit 7", "Loader 3", "Carrier Beta", "Forklift 9", "Robot Unit 2", "Picker 5", "Drone 4", "Cart Alpha",
              "Crane 6", "Shuttle 8", "Robot Arm 1", "Stacker 12"],
    "goods": ["red toolbox", "steel pallet", "spare motor", "blue crate", "cable drum", "glass panel", "paint barrel",
              "empty bin", "pump housing", "wooden box", "tyre stack", "parcel"],
    "place": ["Bay 12", "Dock 4", "Shelf C", "Gate 9", "Aisle 6", "Zone B", "Ramp 2", "Rack 14", "Depot 5", "Bay 3", "Hall 7",
              "Platform 1"],
    "sensor": ["Sensor Delta", "Probe 4", "Sensor Alpha", "Meter 11", "Logger 2", "Gauge 8", "Sensor Kappa", "Node 17",
               "Probe Gamma", "Detector 3", "Station 6", "Sensor Omega"],
    "site": ["greenhouse", "boiler room", "cold store", "clean room", "workshop", "basement", "reactor hall", "wind tunnel",
             "laboratory", "silo", "server room", "pump station"],
    "quantity": ["degrees Celsius", "percent humidity", "volts", "pascals", "lux", "decibels", "amperes", "millibars", "hertz",
                 "watts", "parts per million", "litres per second"],
    "sky": ["rain", "snow", "fog", "hail", "thunder", "drizzle", "sleet", "frost", "gales", "sunshine", "storms", "haze"],
}

TEMPLATES = {
    "weather": [
        "Heavy {sky} will reach {city} before {time} with winds of {n} kilometres per hour.",
        "Expect {sky} over {city} until {time}, then clear skies.",
        "The forecast for {city} shows {sky} and a high of {n} degrees.",
        "{sky} spreads from the west and covers {city} by {time}.",
        "Cloudy in {city} with a {n} percent chance of {sky} after {time}.",
        "A cold front brings {sky} to {city} and gusts up to {n} knots.",
        "Warm and dry weather stays over {city}, with {sky} only near the coast.",
        "{n} millimetres of {sky} are forecast for {city} from {time}.",
        "Strong winds and {sky} move towards {city} during the night.",
        "Skies over {city} clear by {time} after a day of {sky}.",
        "A low pressure system pushes {sky} and cold air across {city}.",
        "{city} wakes to {sky} and temperatures near {n} degrees.",
        "Scattered {sky} is likely in {city} around {time}, winds light.",
        "The storm warning for {city} lasts until {time}; {sky} is expected.",
        "Forecasters see {sky} in the north and mild air near {city}.",
        "No clouds tonight: {city} cools to {n} degrees, {sky} by {time}.",
    ],
    "traffic": [
        "A stalled {vehicle} blocks two lanes of the {road} and delays traffic by {n} minutes.",
        "Roadworks close the {road} until {time}; drivers should take a detour.",
        "A {vehicle} and a {vehicle} collided on the {road}, one lane is closed.",
        "Queues of {n} minutes build on the {road} towards {city}.",
        "The {road} is open again after a {vehicle} was towed.",
        "Slow traffic on the {road}: allow {n} extra minutes.",
        "Police divert cars from the {road} because of a broken down {vehicle}.",
        "A jam of {n} kilometres holds up commuters on the {road}.",
        "Signals fail at the {road}; expect delays until {time}.",
        "One lane of the {road} is blocked by a {vehicle} heading to {city}.",
        "Heavy congestion near the {road}, drivers wait {n} minutes.",
        "The {vehicle} lane of the {road} stays closed until {time}.",
        "An accident with a {vehicle} shuts the {road} in both directions.",
        "Commuters lose {n} minutes as a {vehicle} stops on the {road}.",
        "Detour in place: the {road} is closed for a fallen {vehicle}.",
        "Traffic flows again on the {road} after the crash at {time}.",
    ],
    "health": [
        "{doctor} prescribed {n} milligrams of {drug} twice daily after the {body} operation.",
        "The patient takes {drug} every {n} hours for pain in the {body}.",
        "{doctor} reports that the {body} surgery went well.",
        "A scan of the {body} showed a small fracture, {doctor} ordered rest.",
        "Stop {drug} two days before the {body} operation.",
        "The clinic vaccinates patients until {time}; ask {doctor}.",
        "Blood pressure was {n} over {n} before the dose of {drug}.",
        "{doctor} treats an infection of the {body} with {drug}.",
        "Symptoms of the {body} eased after {n} milligrams of {drug}.",
        "The ward admits a patient with a swollen {body} at {time}.",
        "Physiotherapy for the {body} starts {n} days after surgery.",
        "A dose of {drug} lowers the fever, says {doctor}.",
        "{doctor} advises {drug} and rest for the injured {body}.",
        "The patient left hospital after treatment of the {body}.",
        "Pain in the {body} returned, so the dose of {drug} was doubled.",
        "{doctor} will examine the {body} again at {time}.",
    ],
    "logistics": [
        "{robot} must carry the {goods} to {place} within {n} seconds.",
        "Move the {goods} from {place} to {place} before {time}.",
        "{robot} picks up the {goods} and waits at {place}.",
        "Deliver {n} units of the {goods} to {place}.",
        "The {goods} is missing from {place}; send {robot} to search.",
        "{robot} unloads the {goods} at {place} and returns empty.",
        "Store the {goods} in {place} next to the {goods}.",
        "Shipment of the {goods} leaves {place} at {time}.",
        "Load the {goods} first, then let {robot} drive to {place}.",
        "{place} is full: bring the {goods} to {place} instead.",
        "{robot} stacks {n} pieces of the {goods} in the warehouse.",
        "The order for the {goods} ships from {place} by {time}.",
        "Send {robot} to {place} and fetch the {goods}.",
        "Warehouse stock of the {goods} falls to {n}, refill {place}.",
        "{robot} delivers the {goods} late because {place} is occupied.",
        "Pick the {goods} from {place} and pack it for {city}.",
    ],
    "measurement": [
        "{sensor} measured {n} {quantity} inside the {site} at {time}.",
        "The reading of {sensor} rose to {n} {quantity} in the {site}.",
        "{sensor} in the {site} reports {n} {quantity}, above its limit.",
        "Calibrate {sensor}: it shows {n} {quantity} instead of {n}.",
        "Average value in the {site} was {n} {quantity} over {n} minutes.",
        "{sensor} logs {n} {quantity} every minute.",
        "An alarm went off when {sensor} exceeded {n} {quantity}.",
        "The {site} holds steady at {n} {quantity} since {time}.",
        "{sensor} lost its signal at {time}; last reading {n} {quantity}.",
        "Humidity in the {site} fell to {n} percent, {sensor} says.",
        "Values of {sensor} drift by {n} {quantity} per day.",
        "Between {time} and {time} {sensor} recorded {n} {quantity}.",
        "The {site} reached {n} {quantity}, the highest value of {sensor}.",
        "Readings from {sensor} vary between {n} and {n} {quantity}.",
        "{sensor} reads low in the {site}; replace its battery.",
        "Measured at the {site}: {n} {quantity}, tolerance {n}.",
    ],
}

# Ranges of the sixteen templates of a class, and of the twelve words of a gap, by split.
TEMPLATE_SPLIT = {"train": (0, 9), "validation": (9, 12), "test": (12, 16)}
GAP_SPLIT = {"train": (0, 8), "validation": (0, 8), "test": (4, 12)}


def sentences(split: str, per_class: int, seed: int) -> list[tuple[str, str]]:
    """Distinct (text, label) pairs of a split, with the classes in turn."""
    rng, seen, out = np.random.default_rng(seed), set(), []
    first, last = TEMPLATE_SPLIT[split]
    low, high = GAP_SPLIT[split]
    for i in range(per_class):
        for label in LABELS:
            while True:
                text = TEMPLATES[label][first + int(rng.integers(last - first))]
                while "{" in text:
                    start, end = text.index("{"), text.index("}")
                    word = GAPS[text[start + 1:end]][int(rng.integers(low, high))]
                    text = text[:start] + word + text[end + 1:]
                text = text[0].upper() + text[1:]
                if text not in seen:
                    seen.add(text)
                    out.append((text, label))
                    break
    return out
