import { defaulted, inGroup, integer, older, onOff, text, urls } from './flagSpec.ts'

const withConsensus = ['all', 'consensus'] as const

export const l1Flags = inGroup(
  'L1',
  {
    'l1.rpc': urls({
      aliases: older(['BASE_NODE_L1_ETH_RPC', 'OP_NODE_L1_ETH_RPC']),
      secret: true,
      doc: 'L1 JSON-RPC endpoints, best first',
    }),
    'l1.beacon': urls({
      aliases: [
        ...older(['BASE_NODE_L1_BEACON', 'OP_NODE_L1_BEACON']),
        ...older(['OP_NODE_L1_BEACON_ARCHIVER', 'OP_NODE_L1_BEACON_FALLBACKS'], { isAddition: true }),
      ],
      secret: true,
      doc: 'L1 beacon API endpoints, best first',
    }),
    'l1.poll-interval': defaulted(integer({ doc: 'milliseconds between polls of the L1 head' }, 'MS', 50, 600_000), 4_000),
    'l1.max-rps': integer({ doc: 'maximum of requests a second to all L1 endpoints together' }, 'N', 1, 100_000),
    'l1.chain-config': text(
      {
        aliases: older(['BASE_NODE_L1_CHAIN_CONFIG', 'OP_NODE_ROLLUP_L1_CHAIN_CONFIG']),
        doc: "chain config of L1 in geth's format, for its blob schedule; built in for mainnet, Sepolia and Hoodi",
      },
      'FILE',
    ),
    'forks.from-l1': onOff({
      doc: 'stop before a fork whose time in the ProtocolVersions contract on L1 differs from the built-in time; without it, the difference is a warning',
    }),
    'l1.trust-transactions': onOff({
      doc: 'for a devnet with anvil only: accept the transactions of an L1 block with blobs although their root does not match; each hash is still checked',
    }),
    'l1.slot-seconds': integer(
      {
        doc: 'seconds between L1 slots, for a beacon API without /eth/v1/config/spec',
      },
      'SEC',
      1,
      3_600,
    ),
  },
  { modes: withConsensus },
)
