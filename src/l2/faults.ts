import { defineFaults } from '#lib/fault'

export const l2Fault = defineFaults({
  SOURCE_URL_INVALID: {
    severity: 'fatal',
    says: (d: { reason: string }) => `--source.l2.rpc: ${d.reason}`,
    fix: 'configure the URL of a node of the same chain, preferably its HTTP and its WebSocket URL: --source.l2.rpc=http://host:8545,ws://host:8546',
  },
  SOURCE_UNREACHABLE: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; reason: string }) =>
      `the followed node, ${d.endpoint}, does not answer ${d.asked}: ${d.reason}`,
    fix: 'check that the node runs and is reachable, or follow another one: --source.l2.rpc=URL',
  },
  SOURCE_RATE_LIMITED: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; retryAfterMs: number }) =>
      `the followed node, ${d.endpoint}, limits requests (${d.asked}); next request in ${Math.ceil(d.retryAfterMs / 1000)} s`,
    fix: 'raise the quota at the provider, or follow another node: --source.l2.rpc=URL',
  },
  SOURCE_REFUSED: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; status: number }) =>
      `the followed node, ${d.endpoint}, refuses ${d.asked} with HTTP ${d.status}`,
    fix: 'check the key or password in the URL: --source.l2.rpc',
  },
  SOURCE_RPC_ERROR: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; code: number; isUnknownBlock: boolean }) =>
      `the followed node, ${d.endpoint}, answers ${d.asked} with error ${d.code}${d.isUnknownBlock ? ': it does not know the block' : ''}`,
    fix: 'follow a node that serves full blocks for the whole range: --source.l2.rpc=URL',
  },
  SOURCE_BAD_ANSWER: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; reason: string }) =>
      `the followed node, ${d.endpoint}, sends an invalid response to ${d.asked}: ${d.reason}`,
    fix: 'check that the URL is an execution JSON-RPC endpoint: --source.l2.rpc',
  },
  SOURCE_BAD_BLOCK: {
    severity: 'retry',
    says: (d: { endpoint: string; block: string; reason: string }) =>
      `the followed node, ${d.endpoint}, returns block ${d.block} that contradicts itself: ${d.reason}`,
    fix: 'follow another node, because this one confuses blocks or serves wrong data: --source.l2.rpc=URL',
  },
  SOURCE_WRONG_CHAIN: {
    severity: 'fatal',
    says: (d: { endpoint: string; what: string; expected: string; found: string }) =>
      `the followed node, ${d.endpoint}, serves another chain: its ${d.what} is ${d.found}, expected ${d.expected}`,
    fix: 'follow a node of this chain (--source.l2.rpc=URL), or select its chain: --network, --rollup.config',
  },
  PROOFS_NOT_RECORDED: {
    severity: 'fatal',
    says: (_: Record<never, never>) => '--source.proofs: the execution half has no debug_proofsSyncStatus',
    fix: 'use an execution half that records proofs, or omit --source.proofs',
  },
  PROOFS_UNKNOWN: {
    severity: 'retry',
    says: (d: { reason: string }) => `the execution half does not report how far its proofs are recorded: ${d.reason}`,
    fix: 'check that the execution half runs; blocks beyond its proofs are not followed: --source.max-ahead',
  },
})

export const stateSourceFault = defineFaults({
  STATE_URL_INVALID: {
    severity: 'fatal',
    says: (d: { reason: string }) => `--source.state: ${d.reason}`,
    fix: 'configure HTTP URLs of nodes of the same chain: --source.state=URL,URL',
  },
  STATE_UNAVAILABLE: {
    severity: 'retry',
    says: (d: { part: string; number: number; reason: string }) => `no source has ${d.part} of the state of block ${d.number}: ${d.reason}`,
    fix: 'add a node that keeps the states of the last minutes and serves proofs of them by block hash: --source.state=URL,URL',
  },
})
