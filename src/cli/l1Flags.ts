import { defaulted, integer, older, onOff, text, urls } from './flagSpec.ts'

const withConsensus = ['all', 'consensus'] as const

/** Flags of the L1 endpoints. */
export const l1Flags = {
  'l1.rpc': urls({
    env: 'BASALT_L1_RPC',
    group: 'L1',
    modes: withConsensus,
    aliases: older(['BASE_NODE_L1_ETH_RPC', 'OP_NODE_L1_ETH_RPC']),
    secret: true,
    doc: 'L1 JSON-RPC endpoints, best first',
  }),
  'l1.beacon': urls({
    env: 'BASALT_L1_BEACON',
    group: 'L1',
    modes: withConsensus,
    aliases: [
      ...older(['BASE_NODE_L1_BEACON', 'OP_NODE_L1_BEACON']),
      ...older(['OP_NODE_L1_BEACON_ARCHIVER', 'OP_NODE_L1_BEACON_FALLBACKS'], { isAddition: true }),
    ],
    secret: true,
    doc: 'L1 beacon API endpoints, best first',
  }),
  'l1.poll-interval': defaulted(
    integer(
      { env: 'BASALT_L1_POLL_INTERVAL', group: 'L1', modes: withConsensus, doc: 'milliseconds between polls of the L1 head' },
      'MS',
      50,
      600_000,
    ),
    4_000,
  ),
  'l1.max-rps': integer(
    { env: 'BASALT_L1_MAX_RPS', group: 'L1', modes: withConsensus, doc: 'maximum of requests a second to all L1 endpoints together' },
    'N',
    1,
    100_000,
  ),
  'l1.chain-config': text(
    {
      env: 'BASALT_L1_CHAIN_CONFIG',
      group: 'L1',
      modes: withConsensus,
      aliases: older(['BASE_NODE_L1_CHAIN_CONFIG', 'OP_NODE_ROLLUP_L1_CHAIN_CONFIG']),
      doc: "chain config of L1 in geth's format, for its blob schedule; built in for mainnet, Sepolia and Hoodi",
    },
    'FILE',
  ),
  'l1.trust-transactions': onOff({
    env: 'BASALT_L1_TRUST_TRANSACTIONS',
    group: 'L1',
    modes: withConsensus,
    doc: 'for a devnet with anvil only: accept the transactions of an L1 block with blobs although their root does not match; each hash is still checked',
  }),
  'l1.slot-seconds': integer(
    {
      env: 'BASALT_L1_SLOT_SECONDS',
      group: 'L1',
      modes: withConsensus,
      doc: 'seconds between L1 slots, for a beacon API without /eth/v1/config/spec',
    },
    'SEC',
    1,
    3_600,
  ),
} as const
