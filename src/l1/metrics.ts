import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'

/** Requests to L1: methods of JSON-RPC, paths of the beacon API. */
const l1Methods = [
  'eth_call',
  'eth_chainId',
  'eth_config',
  'eth_getBlockByNumber',
  'eth_getBlockByHash',
  'eth_getBlockReceipts',
  'eth_getCode',
  'eth_getProof',
  'eth_getRawTransactionByHash',
  'eth_getStorageAt',
  'genesis',
  'spec',
  'blobs',
  'blob_sidecars',
] as const
export type L1Method = (typeof l1Methods)[number]

const api = ['rpc', 'beacon'] as const
export type L1Outcome = 'ok' | 'unreachable' | 'rate_limited' | 'wrong_answer'

export const l1Metrics = defineMetrics({
  requests: counter('basalt_l1_requests_total', 'Calls to L1 endpoints by outcome; each call of a batch counts', {
    api,
    method: l1Methods,
    outcome: ['ok', 'unreachable', 'rate_limited', 'wrong_answer'],
  }),
  perBlock: gauge('basalt_l1_requests_per_block_ratio', 'Calls to L1 endpoints per new L1 block, over the last ten minutes', { api }),
  usable: gauge('basalt_l1_usable_peers', 'L1 endpoints that are neither paused after a failure nor excluded', { api }),
  otherBlobSchedule: gauge(
    'basalt_l1_other_blob_schedule_peers',
    'L1 endpoints whose eth_config has another blob schedule than this node, now or from a later fork on',
  ),
  hedges: counter('basalt_l1_hedges_total', 'Slow L1 responses: whether a second endpoint was queried or spared', {
    api,
    outcome: ['asked', 'spared'],
  }),
  blocks: counter('basalt_l1_blocks_total', 'L1 blocks passed to derivation, by source', {
    from: ['read_ahead', 'cache', 'disk', 'endpoint'],
  }),
})
export type L1Metrics = Handles<typeof l1Metrics.specs>
