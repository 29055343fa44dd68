import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'

export const devnetMetrics = defineMetrics({
  compared: gauge('basalt_devnet_compared_block_number', 'Newest block up to which verifier and sequencer have equal blocks'),
  disagreement: gauge('basalt_devnet_disagreement_state', "1: a safe block of the verifier differs from the sequencer's, else 0"),
  faults: counter('basalt_devnet_faults_total', 'Faults injected into the devnet by kind', {
    kind: ['pause-sequencer', 'stop-batcher', 'corrupt-batch', 'reorg-l1', 'drop-l1'],
  }),
})

export type DevnetMetrics = Handles<(typeof devnetMetrics)['specs']>
