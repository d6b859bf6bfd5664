export class PlanCache {}
