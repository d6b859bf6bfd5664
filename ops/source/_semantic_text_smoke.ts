/** The built-in sentences, each with a named entity, a number with its unit, and a fact. Written for this project. */
export const SEMANTIC_TEXT_SMOKE: Readonly<Record<string, string>> = {
  weather_report: "Heavy rain will reach Lisbon before noon with winds of 45 kilometres per hour.",
  robot_instruction: "Robot Unit 7 must carry the red toolbox to Bay 12 within 90 seconds.",
  medical_note: "Doctor Okafor prescribed 250 milligrams of ibuprofen twice daily after the knee operation.",
  traffic_alert: "A stalled lorry blocks two lanes of the Harbour Bridge and delays traffic by 25 minutes.",
  sensor_summary: "Sensor Delta measured 18.6 degrees Celsius and 64 percent humidity inside the greenhouse at dawn.",
};
