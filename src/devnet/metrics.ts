import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'

export const devnetMetrics = defineMetrics({
  compared: gauge(
    'basalt_devnet_compared_block_number',
    'Newest block of which verifier and sequencer have the same bytes, and all before it',
  ),
  disagreement: gauge('basalt_devnet_disagreement_state', "1: a safe block of the verifier is not the sequencer's, else 0"),
  faults: counter('basalt_devnet_faults_total', 'What was done to the devnet on demand', {
    kind: ['pause-sequencer', 'stop-batcher', 'corrupt-batch', 'reorg-l1', 'drop-l1'],
  }),
})

export type DevnetMetrics = Handles<(typeof devnetMetrics)['specs']>
