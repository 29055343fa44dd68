import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'
import { grades } from '#types/trust'

export const trustMetrics = defineMetrics({
  reads: counter('basalt_trust_l1_reads_total', 'Proven reads of proposals from L1 endpoints by outcome', {
    outcome: ['ok', 'invalid', 'failed'],
  }),
  grade: gauge('basalt_trust_grade_info', 'Grade of trust in the block on which the state of this node begins: 1 for the grade it has', {
    grade: grades,
  }),
})
export type TrustMetrics = Handles<typeof trustMetrics.specs>
