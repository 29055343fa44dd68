import { networkNames } from '#chainspec/networkNames'
import { logFormats, logLevels } from '#lib/logNames'
import { b20Flags } from './b20Flags.ts'
import { configFlags } from './commands/config/configFlags.ts'
import { lookupFlags } from './commands/lookup/lookupFlags.ts'
import { traceFlags } from './commands/operate/traceFlags.ts'
import { devnetFlags } from './devnetFlags.ts'
import {
  bytes,
  chainDistance,
  choice,
  type DefaultedFlag,
  defaulted,
  duration,
  type Flag,
  inGroup,
  integer,
  modes,
  nodeUrl,
  older,
  onOff,
  port,
  retention,
  secretHex,
  text,
  url,
} from './flagSpec.ts'
import { flashblocksFlags } from './flashblocksFlags.ts'
import { l1Flags } from './l1Flags.ts'
import { clientFlags } from './localNode/clientFlags.ts'
import { executionPeersFlags, p2pFlags } from './p2pFlags.ts'
import { proofFlags } from './proofFlags.ts'
import { proofsHistoryFlags } from './proofsHistoryFlags.ts'
import { rpcFlags } from './rpcFlags.ts'
import { snapshotFlags } from './snapshotFlags.ts'
import * as form from './translations.ts'
import { trustFlags } from './trustFlags.ts'

const withConsensus = ['all', 'consensus'] as const
const withExecution = ['all', 'execution'] as const
const executionOnly = ['execution'] as const
const consensusOnly = ['consensus'] as const
const loopback = '127.0.0.1'

/**
 * Every flag of every command: its name, its variable, and older names from the environments of Base and OP-Stack nodes. `SVC_NODE_X` is read as
 * `BASE_NODE_X`, `CLIENT_X` as `RETH_X`. Variables without a meaning here are in `otherClientEnv.ts`.
 */
export const flags = {
  ...inGroup('Chain', {
    network: choice(
      {
        aliases: older(['BASE_NODE_NETWORK', 'OP_NODE_NETWORK', 'RETH_CHAIN', 'OP_RETH_OP_NETWORK', 'OP_GETH_OP_NETWORK'], {
          translation: form.networkName,
        }),
        doc: 'name of a built-in chain',
      },
      networkNames,
    ),
    'rollup.config': text(
      {
        aliases: older(['BASE_NODE_ROLLUP_CONFIG', 'OP_NODE_ROLLUP_CONFIG']),
        doc: "rollup config of a custom chain, in op-node's format; requires --genesis",
      },
      'FILE',
    ),
    genesis: text({ doc: "genesis of a custom chain, in geth's format" }, 'FILE'),
  }),

  ...l1Flags,

  ...trustFlags,

  ...inGroup('Halves', {
    mode: defaulted(
      choice(
        {
          doc: 'both halves in one process, or one half, which works with the other over the Engine API',
        },
        modes,
      ),
      'all',
    ),
    engine: url(
      {
        modes: consensusOnly,
        aliases: older(['BASE_NODE_L2_ENGINE_RPC', 'OP_NODE_L2_ENGINE_RPC'], { translation: form.engineUrl }),
        doc: 'Engine API of the execution half',
      },
      ['http', 'https'],
    ),
    jwt: text(
      {
        modes: ['execution', 'consensus'],
        aliases: older(['BASE_NODE_L2_ENGINE_AUTH', 'OP_NODE_L2_ENGINE_AUTH']),
        doc: 'file of the secret that both halves share; created when absent; default DATADIR/jwt.hex',
      },
      'FILE',
    ),
    'jwt.secret': secretHex({
      modes: ['execution', 'consensus'],
      aliases: older(['BASE_NODE_L2_ENGINE_AUTH_RAW', 'BASE_NODE_L2_ENGINE_AUTH_ENCODED', 'OP_NODE_L2_ENGINE_AUTH_RAW']),
      doc: 'the secret itself; overrides the file of --jwt',
    }),
    'engine.addr': defaulted(text({ modes: executionOnly, doc: 'address of the Engine API' }, 'ADDRESS'), loopback),
    'engine.port': defaulted(
      port({
        modes: executionOnly,
        aliases: older('AUTHRPC_PORT', { modes: executionOnly }),
        doc: 'Engine API for a separate consensus half; 0: any free port',
      }),
      8551,
    ),
    'payload.max-time': defaulted(
      duration(
        {
          modes: withExecution,
          doc: 'maximal execution time of a payload from the other half or another node; a slower payload is refused for ten times as long, then has twice the time; 0: no limit',
        },
        '1s to 3600s, or 0',
        (ms) => ms === 0 || (ms >= 1_000 && ms <= 3_600_000),
      ),
      60_000,
      '60s',
    ),
  }),

  ...inGroup(
    'Follow mode',
    {
      'source.l2.rpc': nodeUrl({
        aliases: older('BASE_NODE_SOURCE_L2_RPC'),
        secret: true,
        doc: 'follow this node of the same chain; every block is executed again. A WebSocket URL announces heads; without one they are polled',
      }),
      'source.proofs': onOff({
        aliases: older('BASE_NODE_PROOFS', { translation: form.trueOrFalse }),
        doc: 'the execution half records proofs: do not run ahead of them by more than --source.max-ahead',
      }),
      'source.max-ahead': defaulted(
        chainDistance({
          aliases: older('BASE_NODE_PROOFS_MAX_BLOCKS_AHEAD', { translation: form.inBlocks }),
          doc: 'maximal distance ahead of the recorded proofs, in seconds, or in blocks as 512b, with the block time at the start of the node',
        }),
        { blocks: 512 },
        '512b',
      ),
      'ready.max-lag': defaulted(
        integer(
          {
            doc: 'maximal age of the head in seconds at which /readyz is 200; applies with --source.l2.rpc only',
          },
          'SEC',
          1,
          1_000_000,
        ),
        30,
      ),
    },
    { modes: withConsensus },
  ),

  ...inGroup('Servers', {
    'http.addr': defaulted(text({ modes: withExecution, doc: 'address of JSON-RPC over HTTP' }, 'ADDRESS'), loopback),
    'http.port': defaulted(
      port({
        modes: withExecution,
        aliases: older('RPC_PORT', { modes: withExecution }),
        doc: 'JSON-RPC of the L2 chain over HTTP; 0: any free port; off: none',
      }),
      8545,
    ),
    'ws.addr': defaulted(text({ modes: withExecution, doc: 'address of JSON-RPC over WebSocket' }, 'ADDRESS'), loopback),
    'ws.port': defaulted(
      port({
        modes: withExecution,
        aliases: older('WS_PORT', { modes: withExecution }),
        doc: 'JSON-RPC over WebSocket, with subscriptions; 0: any free port; off: none',
      }),
      8546,
    ),
    'rollup.addr': defaulted(
      text(
        {
          modes: withConsensus,
          aliases: older(['BASE_NODE_RPC_ADDR', 'OP_NODE_RPC_ADDR'], { modes: withConsensus }),
          doc: 'address of the rollup RPC',
        },
        'ADDRESS',
      ),
      loopback,
    ),
    'rollup.port': defaulted(
      port({
        modes: withConsensus,
        aliases: [
          ...older(['BASE_NODE_RPC_PORT', 'OP_NODE_RPC_PORT'], { modes: withConsensus }),
          ...older('BASE_NODE_RPC_DISABLED', { modes: withConsensus, translation: form.offIfTrue }),
        ],
        doc: 'JSON-RPC of the rollup node, /healthz, /readyz; 0: any free port; off: none',
      }),
      7545,
    ),
    'rollup.admin': onOff({
      modes: withConsensus,
      aliases: older('BASE_NODE_RPC_ENABLE_ADMIN', { modes: withConsensus, translation: form.trueOrFalse }),
      doc: 'admin_* methods on the rollup port, for every client that reaches it',
    }),
    'metrics.addr': defaulted(
      text(
        {
          aliases: older(['BASE_NODE_METRICS_ADDR', 'OP_NODE_METRICS_ADDR'], { modes: withConsensus }),
          doc: 'address of /metrics',
        },
        'ADDRESS',
      ),
      loopback,
    ),
    'metrics.port': defaulted(
      port({
        aliases: [
          ...older('METRICS_PORT', { modes: executionOnly }),
          ...older(['BASE_NODE_METRICS_PORT', 'OP_NODE_METRICS_PORT'], { modes: withConsensus }),
          ...older(['BASE_NODE_METRICS_ENABLED', 'OP_NODE_METRICS_ENABLED'], { modes: withConsensus, translation: form.offUnlessTrue }),
        ],
        doc: '/metrics for Prometheus; 0: any free port; off: none',
      }),
      7300,
    ),
    'metrics.page': defaulted(
      choice({ doc: 'web page with the state of the node, its charts, blocks and transactions, at / of --metrics.port' }, ['on', 'off']),
      'on',
    ),
  }),

  ...rpcFlags,

  ...inGroup('Storage', {
    datadir: defaulted(
      text(
        {
          doc:
            'directory of the chain data; one node at a time; {network} in it is the name of the built-in network, or chain-ID for a custom chain; ' +
            'a devnet keeps no data unless this flag is on the command line',
        },
        'DIR',
      ),
      './basalt-data',
    ),
    'verify.restart': onOff({ doc: 'verify from the first row instead of where an interrupted verification ended' }),
    'prune.keep': chainDistance({ doc: 'states that `basalt db prune` keeps: a time or a number of blocks before the head' }),
    'memory-max': bytes({
      doc: 'memory of the process without the pages of its database, as 3GB; near it caches shrink, expensive calls are refused and new blocks wait for commits; default: three quarters of the memory of the machine or its cgroup',
    }),
    cache: bytes({
      doc: 'memory of all caches together, as 512MB; the default is an eighth of the memory of the machine or its cgroup, from 34MB to 537MB',
    }),
    'export.from': integer(
      { doc: 'first block that `basalt db export` writes, by default the first in the database after the genesis' },
      'N',
      0,
      Number.MAX_SAFE_INTEGER,
    ),
    'export.to': integer({ doc: 'last block that `basalt db export` writes, by default the head' }, 'N', 0, Number.MAX_SAFE_INTEGER),
    'retain.history': defaulted(
      retention({
        modes: withExecution,
        doc: 'states before the head that are kept, counted by block time; older ones are removed while the node runs, none from the finalized block on. A longer time brings no removed state back',
      }),
      { sec: 7 * 86_400 },
      '7d',
    ),
    'retain.bodies': defaulted(
      retention({
        doc: 'transactions of finalized blocks to keep, counted back from the head; at least those that derivation may read again, 17.5 hours on Base; older ones are removed in segment files of about an hour',
        modes: withExecution,
      }),
      'all',
    ),
    'retain.receipts': defaulted(
      retention({
        doc: 'receipts of finalized blocks to keep, at most those of --retain.bodies',
        modes: withExecution,
      }),
      'all',
    ),
    'retain.logs': defaulted(
      retention({
        doc: 'blocks whose logs eth_getLogs finds, at most those of --retain.receipts',
        modes: withExecution,
      }),
      'all',
    ),
    'db.min-free': defaulted(bytes({ doc: 'free disk space below which nothing is written' }), 2_000_000_000, '2GB'),
  }),

  ...snapshotFlags,

  ...devnetFlags,
  ...b20Flags,
  ...proofFlags,
  ...clientFlags,
  ...configFlags,
  ...lookupFlags,

  ...inGroup('Output', {
    'log.level': defaulted(
      choice(
        {
          aliases: [
            ...older('LOG_LEVEL', { modes: withExecution, translation: form.levelName }),
            ...older('BASE_NODE_LOG_VERBOSITY', { modes: withConsensus, translation: form.verbosity }),
            ...older('OP_NODE_LOG_LEVEL', { modes: withConsensus, translation: form.levelName }),
          ],
          doc: 'lowest severity of log lines to write',
        },
        logLevels,
      ),
      'info',
    ),
    'log.format': defaulted(
      choice(
        {
          aliases: older(['BASE_NODE_LOG_FORMAT', 'OP_NODE_LOG_FORMAT'], { translation: form.lineFormat }),
          doc: 'format of log lines: pretty for people, json or logfmt for programs',
        },
        logFormats,
      ),
      'pretty',
    ),
    json: onOff({ doc: 'print the result as one line of JSON' }),
  }),

  ...inGroup('Servers', {
    'sequencer.http': url(
      {
        modes: withExecution,
        aliases: older(['RETH_SEQUENCER_HTTP', 'OP_RETH_SEQUENCER_HTTP', 'OP_SEQUENCER_HTTP', 'OP_GETH_SEQUENCER_HTTP']),
        secret: true,
        doc: 'JSON-RPC of the sequencer: transactions are forwarded to it, and its responses are returned unchanged',
      },
      ['http', 'https'],
    ),
  }),

  ...flashblocksFlags,

  ...p2pFlags,
  ...executionPeersFlags,

  ...proofsHistoryFlags,

  ...traceFlags,
} as const

export type FlagName = keyof typeof flags

/** Returns the name of a flag on the command line. No command has two flags of one name. */
export function wordOf(name: FlagName): string {
  const { word }: Flag<unknown> = flags[name]
  return word ?? name
}

type ValueOf<N extends FlagName> =
  (typeof flags)[N] extends DefaultedFlag<infer T> ? T : (typeof flags)[N] extends Flag<infer T> ? T | undefined : never
/** Values by flag name; undefined only for a flag without a fallback. */
export type FlagValues<N extends FlagName> = { readonly [K in N]: ValueOf<K> }

/** Values of the command line, by flag name: text, or true for a switch. */
export type RawFlags = Readonly<Record<string, string | boolean | undefined>>
