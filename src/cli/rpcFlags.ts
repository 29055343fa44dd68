import { maxRpcThreads, usualRpcThreads } from '#node/threads/rpcThreadCount'
import {
  addressRanges,
  defaulted,
  duration,
  hostNames,
  inGroup,
  integer,
  modes,
  namespaces,
  older,
  origins,
  port,
  retention,
  text,
} from './flagSpec.ts'

const withExecution = ['all', 'execution'] as const

/** Flags of the servers: namespaces, origins, hosts, limits, threads. */
export const rpcFlags = inGroup(
  'Servers',
  {
    'health.addr': defaulted(text({ modes, doc: 'address of --health.port' }, 'ADDRESS'), '127.0.0.1'),
    'health.port': defaulted(
      port({
        modes,
        doc: '/healthz and /readyz on a separate port and thread, available while other ports are flooded; 0: any free port; off: none',
      }),
      'off',
    ),
    'http.api': defaulted(
      namespaces({
        aliases: older('RETH_HTTP_API', { modes: withExecution }),
        doc: 'namespaces of methods over HTTP; or all, or none. The methods that change the node are in admin and miner',
      }),
      ['eth', 'net', 'web3', 'rpc'],
      'eth,net,web3,rpc',
    ),
    'ws.api': defaulted(
      namespaces({
        aliases: older('RETH_WS_API', { modes: withExecution }),
        doc: 'namespaces of methods over WebSocket, as --http.api',
      }),
      ['eth', 'net', 'web3', 'rpc'],
      'eth,net,web3,rpc',
    ),
    'http.cors': origins({
      doc: 'origins of web pages that may use HTTP; *: any; default: none',
    }),
    'ws.origins': origins({
      doc: 'origins of web pages that may use WebSocket; *: any; default: none. Programs other than browsers send no origin',
    }),
    'ipc.path': text(
      {
        doc: 'Unix socket with every method, open to this user only; default: none',
      },
      'FILE',
    ),
    'rpc.hosts': hostNames({
      modes,
      doc: 'host names that requests may use, besides localhost and IP addresses; default on a loopback address: none, on other addresses: any',
    }),
    'rpc.rate-limit': integer(
      {
        doc: 'compute units a second for each client (an address, an IPv6 network of 64 bits, an API key) over HTTP and WebSocket; default: no limit',
      },
      'UNITS',
      1,
      1_000_000_000,
    ),
    'rpc.rate-burst': integer(
      {
        doc: 'compute units that a client may accumulate; default: ten seconds of --rpc.rate-limit',
      },
      'UNITS',
      1,
      1_000_000_000,
    ),
    'rpc.api-keys': text(
      {
        doc: 'file of clients with their own limit, a line each: KEY UNITS [BURST]; a client sends X-Api-Key or uses the path /KEY; read again when it changes',
      },
      'FILE',
    ),
    'rpc.trusted-proxies': addressRanges({
      doc: 'addresses and networks of proxies whose X-Forwarded-For names the client',
    }),
    'rpc.evm-timeout': defaulted(
      duration({ doc: 'maximal execution time of an eth_call; 0: no limit' }, 'a time such as 5s or 500ms'),
      5_000,
      '5s',
    ),
    'rpc.slow-log': duration(
      {
        modes,
        doc: 'log each JSON-RPC call that takes at least this time, at most ten lines in ten seconds from each thread; default: none',
      },
      'a time such as 2s or 500ms',
    ),
    'rpc.eth-proof-window': retention(
      {
        doc: 'blocks before the head with proofs (eth_getProof, execution witnesses), within --retain.history: a number of blocks, or a time; at least an hour and all blocks that are not finalized; default: an hour, and all with --retain.history all',
      },
      'b',
    ),
    'rpc.workers': defaulted(
      integer(
        {
          doc: 'threads that serve JSON-RPC over HTTP and WebSocket, all on the same ports; 0: the main thread serves it, as on systems that cannot share a port',
        },
        'N',
        0,
        maxRpcThreads,
      ),
      usualRpcThreads(),
      'one less than the cores, and two on two cores',
    ),
  },
  { modes: withExecution },
)
