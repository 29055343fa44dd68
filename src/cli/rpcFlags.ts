import { maxRpcThreads, usualRpcThreads } from '#node/threads/rpcThreadCount'
import { addressRanges, defaulted, duration, hostNames, integer, namespaces, older, origins, port, text } from './flagSpec.ts'

const withExecution = ['all', 'execution'] as const

/** What may be asked by whom, and how much: flags of the servers besides where they listen. */
export const rpcFlags = {
  'health.addr': defaulted(text({ env: 'BASALT_HEALTH_ADDR', group: 'Servers', doc: 'address of --health.port' }, 'ADDRESS'), '127.0.0.1'),
  'health.port': defaulted(
    port({
      env: 'BASALT_HEALTH_PORT',
      group: 'Servers',
      doc: '/healthz and /readyz on a port and in a thread of their own, answered while other ports are flooded; 0: any free port; off: none',
    }),
    'off',
  ),
  'http.api': defaulted(
    namespaces({
      env: 'BASALT_HTTP_API',
      group: 'Servers',
      modes: withExecution,
      aliases: older('RETH_HTTP_API', { modes: withExecution }),
      doc: 'namespaces of methods over HTTP; all: every one there is; none: not one. What changes the node is in admin and miner',
    }),
    ['eth', 'net', 'web3', 'rpc'],
    'eth,net,web3,rpc',
  ),
  'ws.api': defaulted(
    namespaces({
      env: 'BASALT_WS_API',
      group: 'Servers',
      modes: withExecution,
      aliases: older('RETH_WS_API', { modes: withExecution }),
      doc: 'namespaces of methods over WebSocket, as --http.api',
    }),
    ['eth', 'net', 'web3', 'rpc'],
    'eth,net,web3,rpc',
  ),
  'http.cors': origins({
    env: 'BASALT_HTTP_CORS',
    group: 'Servers',
    modes: withExecution,
    doc: 'origins whose web pages may ask over HTTP; *: any; default: none',
  }),
  'ws.origins': origins({
    env: 'BASALT_WS_ORIGINS',
    group: 'Servers',
    modes: withExecution,
    doc: 'origins whose web pages may connect over WebSocket; *: any; default: none. Programs that are no browsers send no origin',
  }),
  'ipc.path': text(
    {
      env: 'BASALT_IPC_PATH',
      group: 'Servers',
      modes: withExecution,
      doc: 'a Unix socket with every method there is, for this user alone; default: none',
    },
    'FILE',
  ),
  'rpc.hosts': hostNames({
    env: 'BASALT_RPC_HOSTS',
    group: 'Servers',
    doc: 'names, besides localhost and IP addresses, that requests may call this node by; default on a loopback address: none, elsewhere: any',
  }),
  'rpc.rate-limit': integer(
    {
      env: 'BASALT_RPC_RATE_LIMIT',
      group: 'Servers',
      modes: withExecution,
      doc: 'compute units a second for each client (an address, an IPv6 network of 64 bits, an API key) over HTTP and WebSocket; default: no limit',
    },
    'UNITS',
    1,
    1_000_000_000,
  ),
  'rpc.rate-burst': integer(
    {
      env: 'BASALT_RPC_RATE_BURST',
      group: 'Servers',
      modes: withExecution,
      doc: 'units that a client may have saved up; default: ten seconds of --rpc.rate-limit',
    },
    'UNITS',
    1,
    1_000_000_000,
  ),
  'rpc.api-keys': text(
    {
      env: 'BASALT_RPC_API_KEYS',
      group: 'Servers',
      modes: withExecution,
      doc: 'file of clients with a limit of their own, a line each: KEY UNITS [BURST]; they send X-Api-Key or ask at /KEY; read again when it changes',
    },
    'FILE',
  ),
  'rpc.trusted-proxies': addressRanges({
    env: 'BASALT_RPC_TRUSTED_PROXIES',
    group: 'Servers',
    modes: withExecution,
    doc: 'addresses and networks of proxies that say in X-Forwarded-For who asks',
  }),
  'rpc.evm-timeout': defaulted(
    duration(
      { env: 'BASALT_RPC_EVM_TIMEOUT', group: 'Servers', modes: withExecution, doc: 'how long an eth_call may run code; 0: for ever' },
      'a time such as 5s or 500ms',
    ),
    5_000,
    '5s',
  ),
  'rpc.workers': defaulted(
    integer(
      {
        env: 'BASALT_RPC_WORKERS',
        group: 'Servers',
        modes: withExecution,
        doc: 'threads that answer JSON-RPC over HTTP and WebSocket, all on the same ports; 0: the main thread does, as where the system cannot share a port',
      },
      'N',
      0,
      maxRpcThreads,
    ),
    usualRpcThreads(),
    'one less than there are cores',
  ),
} as const
