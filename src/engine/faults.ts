import { defineFaults } from '#lib/fault'

export const engineFault = defineFaults({
  MALFORMED_PAYLOAD: {
    severity: 'fatal',
    says: (d: { what: string; key: string; reason: string }) => `${d.what}: ${d.key}: ${d.reason}`,
    fix: 'check that the file or client gives Engine API payloads',
  },
  UNKNOWN_PARENT: {
    severity: 'reset',
    says: (d: { hash: string; number: number }) => `block ${d.number} ${d.hash}, to build on, is not known to the execution half`,
    fix: 'nothing: what is missing is fetched or derived again from a block that is known',
  },
  BLOCK_NOT_EXECUTED: {
    severity: 'retry',
    says: (d: { number: number; reason: string }) => `execution of block ${d.number} was abandoned: ${d.reason}`,
    fix: 'check the consensus half or the node that offers the block; on a slow machine give blocks more time: --payload.max-time',
  },
  INVALID_FORKCHOICE: {
    severity: 'reset',
    says: (d: { label: string; hash: string; reason: string }) => `${d.label} head ${d.hash} is refused: ${d.reason}`,
    fix: 'nothing: derivation starts again from heads that are known',
  },
  ENGINE_UNREACHABLE: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; reason: string; retryAfterMs?: number }) =>
      `the execution half at ${d.endpoint} does not answer ${d.asked}: ${d.reason}`,
    fix: 'check that the execution half runs and listens there: --engine=URL; it is asked again until it answers',
  },
  ENGINE_UNAUTHORIZED: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; status: number; says: string }) =>
      `the execution half at ${d.endpoint} refuses ${d.asked} with HTTP ${d.status}${d.says === '' ? '' : `: ${d.says}`}`,
    fix: 'give both halves the same secret (--jwt=FILE here, often --authrpc.jwtsecret there) and clocks that agree within a minute',
  },
  ENGINE_WRONG_CHAIN: {
    severity: 'fatal',
    says: (d: { endpoint: string; what: string; expected: string; found: string }) =>
      `the execution half at ${d.endpoint} is of another chain: ${d.what} is ${d.found}, ${d.expected} expected`,
    fix: 'name an execution half of this chain (--engine=URL), or the network that it has (--network)',
  },
  ENGINE_BAD_ANSWER: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; reason: string }) =>
      `the execution half at ${d.endpoint} answers ${d.asked} with something else: ${d.reason}`,
    fix: 'check that the URL is that of an Engine API (--engine=URL, port 8551 as a rule) and that nothing between changes its answers',
  },
  ENGINE_ERROR: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; code: number; message: string }) =>
      `the execution half at ${d.endpoint} answers ${d.asked} with error ${d.code}: ${d.message}`,
    fix: 'read the log of the execution half; a version of it that knows the latest fork may be needed',
  },
  ENGINE_METHOD_MISSING: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; message: string }) => `${d.endpoint} does not know ${d.asked}: ${d.message}`,
    fix: 'that is no Engine API, or an old one: name the port of the Engine API, 8551 as a rule, not that of JSON-RPC (--engine=URL)',
  },
  ENGINE_SYNCING: {
    severity: 'retry',
    says: (d: { endpoint: string; hash: string }) =>
      `the execution half at ${d.endpoint} is syncing and does not take ${d.hash} as its head yet`,
    fix: 'wait until it is done; its own log says how far it is',
  },
})
