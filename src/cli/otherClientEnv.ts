/**
 * Variables of other clients without a meaning here, with the reason. A name may end in `*`. Names of the form `BASE_NODE_…` and `RETH_…` include the
 * neutral prefixes `SVC_NODE_…` and `CLIENT_…`.
 */
export type Foreign = {
  readonly names: readonly string[]
  /** no-meaning: no counterpart here; not-yet: planned for a later version; elsewhere: read by another program, no warning */
  readonly kind: 'no-meaning' | 'not-yet' | 'elsewhere'
  readonly why: string
}

export const otherClientEnv: readonly Foreign[] = [
  {
    names: ['NODE_TAG', 'NETWORK_ENV', 'HOST_DATA_DIR', 'PROFILE', 'BASE_IMAGE'],
    kind: 'elsewhere',
    why: 'read by compose.yaml, not by the program',
  },
  {
    names: ['BASE_RETH_NODE_REPO', 'BASE_RETH_NODE_TAG', 'BASE_RETH_NODE_COMMIT'],
    kind: 'elsewhere',
    why: "pins the source that another client's image is built from",
  },
  { names: ['BASECTL_*', 'TIPS_*', 'BBHC_*'], kind: 'elsewhere', why: 'read by tools and services outside the node' },
  {
    names: ['NODE_URL', 'DD_AGENT_HOST', 'GETH_MEMPOOL_ENDPOINT', 'RETH_MEMPOOL_ENDPOINT', 'RUST_BACKTRACE'],
    kind: 'elsewhere',
    why: 'read by tools and services outside the node',
  },
  { names: ['L2_BASE_DENIM_BLOCK', 'OP_DEV_*'], kind: 'elsewhere', why: "of another client's devnet" },
  {
    names: ['CLIENT', 'USE_BASE_CONSENSUS', 'NODE_TYPE'],
    kind: 'no-meaning',
    why: 'there is only one client; --mode chooses its halves',
  },
  { names: ['GETH_HOST_DATA_DIR'], kind: 'no-meaning', why: 'compose.yaml reads HOST_DATA_DIR' },
  {
    names: ['RETH_DATA_DIR', 'GETH_DATA_DIR', 'NETHERMIND_DATA_DIR'],
    kind: 'no-meaning',
    why: "other clients' files cannot be read; --datadir names Basalt's directory",
  },
  { names: ['ADDITIONAL_ARGS', 'IPC_PATH', 'HOST_IP', 'CHAIN_ID'], kind: 'no-meaning', why: 'used by scripts of other images only' },
  { names: ['RETH_PRUNING_ARGS'], kind: 'no-meaning', why: 'arguments of another client: --retain.history sets how long states are kept' },
  { names: ['STATSD_ADDRESS'], kind: 'no-meaning', why: 'metrics are served, not sent: --metrics.port' },
  { names: ['JWT_SECRET_FILE'], kind: 'no-meaning', why: 'specific to nethermind: --jwt names the file of the secret' },
  {
    names: ['BASE_NODE_L1_TRUST_RPC', 'OP_NODE_L1_TRUST_RPC', 'BASE_NODE_L2_TRUST_RPC'],
    kind: 'no-meaning',
    why: 'every hash is recomputed, for every source',
  },
  {
    names: ['BASE_NODE_L1_SLOT_DURATION_OVERRIDE'],
    kind: 'no-meaning',
    why: 'the beacon endpoint provides the slot duration',
  },
  {
    names: ['OP_NODE_L1_BEACON_FETCH_ALL_SIDECARS', 'OP_NODE_L1_RPC_KIND', 'OP_NODE_L2_ENGINE_KIND'],
    kind: 'no-meaning',
    why: 'no endpoint needs special treatment',
  },
  {
    names: ['BASE_NODE_L2_ENGINE_TIMEOUT'],
    kind: 'no-meaning',
    why: 'each request of the Engine API has the time-out of its specification',
  },
  { names: ['BASE_NODE_L2_RPC_URL'], kind: 'no-meaning', why: 'the Engine API port also serves the reads of follow mode' },
  {
    names: ['BASE_NODE_MODE', 'BASE_NODE_SEQUENCER_*', 'BASE_NODE_CONDUCTOR_*'],
    kind: 'not-yet',
    why: 'this node verifies; sequencing comes later',
  },
  {
    names: ['BASE_NODE_VERIFIER_L1_CONFS', 'OP_NODE_VERIFIER_L1_CONFS'],
    kind: 'not-yet',
    why: 'derivation follows the head of L1, and its reorgs',
  },
  {
    names: ['BASE_NODE_RPC_NO_RESTART', 'BASE_NODE_RPC_ADMIN_STATE', 'BASE_NODE_RPC_WS_ENABLED', 'BASE_NODE_RPC_DEV_ENABLED'],
    kind: 'no-meaning',
    why: 'the rollup RPC has no such part',
  },
  { names: ['BASE_NODE_METRICS_INTERVAL'], kind: 'no-meaning', why: 'metrics are collected at each request' },
  { names: ['BASE_NODE_LOG_DIR'], kind: 'no-meaning', why: 'logs go to standard error: direct it to a file' },
  {
    names: ['BASE_NODE_P2P_LISTEN_UDP_PORT', 'OP_NODE_P2P_LISTEN_UDP_PORT'],
    kind: 'no-meaning',
    why: 'discovery uses the number of the TCP port: --p2p.port',
  },
  {
    names: ['BASE_NODE_P2P_SIGNER_*', 'OP_NODE_P2P_SIGNER_*', 'BASE_NODE_P2P_SEQUENCER_KEY', 'OP_NODE_P2P_SEQUENCER_KEY'],
    kind: 'not-yet',
    why: '--p2p.sequencer.key names the file of a key, --p2p.signer.endpoint a remote signer without certificates',
  },
  {
    names: ['BASE_NODE_P2P_*', 'OP_NODE_P2P_*', 'OP_NODE_INTERNAL_IP'],
    kind: 'no-meaning',
    why: 'gossip, scores and the store of peers have fixed settings: docs/p2p.md',
  },
  {
    names: ['P2P_PORT', 'DISCOVERY_PORT', 'V5_DISCOVERY_PORT'],
    kind: 'not-yet',
    why: 'the execution network has one port for RLPx and both versions of discovery: --p2p.execution.port',
  },
  {
    names: ['OP_RETH_DISABLE_DISCOVERY', 'OP_RETH_DISABLE_TX_POOL_GOSSIP', 'OP_GETH_BOOTNODES', 'OP_GETH_NET_RESTRICT'],
    kind: 'no-meaning',
    why: 'the execution network has flags of its own, --p2p.execution…',
  },
  {
    names: ['OP_NODE_SYNCMODE', 'OP_GETH_SYNCMODE'],
    kind: 'no-meaning',
    why: 'there is one sync mode: derive from L1 and execute every block',
  },
  {
    names: ['OP_NODE_SNAPSHOT_LOG', 'OP_NODE_ROLLUP_LOAD_PROTOCOL_VERSIONS', 'OP_NODE_BETA_EXTRA_NETWORKS'],
    kind: 'no-meaning',
    why: 'specific to op-node',
  },
  {
    names: [
      'OP_GETH_GCMODE',
      'OP_GETH_STATE_SCHEME',
      'OP_GETH_ETH_STATS',
      'OP_GETH_ALLOW_UNPROTECTED_TXS',
      'OP_GETH_GENESIS_FILE_PATH',
      'GETH_CACHE',
      'GETH_CACHE_*',
      'GETH_VERBOSITY',
      'GETH_TXPOOL_*',
      'TXPOOL_PRICE_LIMIT',
    ],
    kind: 'no-meaning',
    why: 'specific to op-geth',
  },
  { names: ['OP_NETHERMIND_*', 'NETHERMIND_LOG_LEVEL'], kind: 'no-meaning', why: 'specific to nethermind' },
]

const neutral: readonly (readonly [string, string])[] = [
  ['SVC_NODE_', 'BASE_NODE_'],
  ['CLIENT_', 'RETH_'],
]

/** Maps `SVC_NODE_X` to `BASE_NODE_X`, `CLIENT_X` to `RETH_X`, any other name to itself. */
export function withoutNeutralPrefix(name: string): string {
  for (const [prefix, meant] of neutral) if (name.startsWith(prefix)) return meant + name.slice(prefix.length)
  return name
}

/** Returns the neutral spelling of a name, if it has one. */
export function neutralNameOf(name: string): string | undefined {
  for (const [prefix, meant] of neutral) if (name.startsWith(meant)) return prefix + name.slice(meant.length)
  return undefined
}

export function foreignOf(variable: string): Foreign | undefined {
  const meant = withoutNeutralPrefix(variable)
  return otherClientEnv.find(({ names }) =>
    names.some((name) => (name.endsWith('*') ? meant.startsWith(name.slice(0, -1)) : meant === name)),
  )
}

/** Prefixes that no unrelated program uses: an unknown name with one is reported as a typing error. `CLIENT_` is not among them. */
export const ownedPrefixes: readonly string[] = ['BASALT_', 'BASE_NODE_', 'SVC_NODE_', 'OP_NODE_', 'OP_RETH_', 'RETH_']
