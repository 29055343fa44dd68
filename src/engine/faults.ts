import { defineFaults } from '#lib/fault'

export const engineFault = defineFaults({
  MALFORMED_PAYLOAD: {
    severity: 'fatal',
    says: (d: { what: string; key: string; reason: string }) => `${d.what}: ${d.key}: ${d.reason}`,
    fix: 'check that the file or client contains Engine API payloads',
  },
  UNKNOWN_PARENT: {
    severity: 'reset',
    says: (d: { hash: string; number: number }) => `parent block ${d.number} ${d.hash} is unknown to the execution half`,
    fix: 'nothing, missing blocks are fetched or derived again from a known block',
  },
  BLOCK_NOT_EXECUTED: {
    severity: 'retry',
    says: (d: { number: number; reason: string }) => `execution of block ${d.number} was abandoned: ${d.reason}`,
    fix: 'check the consensus half or the node that offers the block; on a slow machine give blocks more time: --payload.max-time',
  },
  INVALID_FORKCHOICE: {
    severity: 'reset',
    says: (d: { label: string; hash: string; reason: string }) => `${d.label} head ${d.hash} was refused: ${d.reason}`,
    fix: 'nothing, derivation restarts from known heads',
  },
  ENGINE_UNREACHABLE: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; reason: string; retryAfterMs?: number }) =>
      `the execution half at ${d.endpoint} does not answer ${d.asked}: ${d.reason}`,
    fix: 'check that the execution half runs and listens there: --engine=URL; requests are retried until it responds',
  },
  ENGINE_UNAUTHORIZED: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; status: number }) =>
      `the execution half at ${d.endpoint} refuses ${d.asked} with HTTP ${d.status}`,
    fix: 'configure the same secret on both halves (--jwt=FILE here, often --authrpc.jwtsecret there), and synchronise their clocks to within a minute',
  },
  ENGINE_WRONG_CHAIN: {
    severity: 'fatal',
    says: (d: { endpoint: string; what: string; expected: string; found: string }) =>
      `the execution half at ${d.endpoint} serves another chain: ${d.what} is ${d.found}, expected ${d.expected}`,
    fix: 'configure an execution half of this chain (--engine=URL), or the network that it serves (--network)',
  },
  ENGINE_BAD_ANSWER: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; reason: string }) =>
      `the execution half at ${d.endpoint} sends an invalid response to ${d.asked}: ${d.reason}`,
    fix: 'check that the URL is an Engine API (--engine=URL, usually port 8551) and that no proxy changes its responses',
  },
  ENGINE_ERROR: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; code: number }) =>
      `the execution half at ${d.endpoint} answers ${d.asked} with error ${d.code}`,
    fix: 'read the log of the execution half; it may need a version that supports the latest fork',
  },
  ENGINE_METHOD_MISSING: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string }) => `${d.endpoint} does not support ${d.asked}`,
    fix: 'configure the port of a current Engine API, usually 8551, not the port of JSON-RPC (--engine=URL)',
  },
  ENGINE_SYNCING: {
    severity: 'retry',
    says: (d: { endpoint: string; hash: string }) =>
      `the execution half at ${d.endpoint} is syncing and does not accept head ${d.hash} yet`,
    fix: 'wait until it has synced; its log shows the progress',
  },
})
