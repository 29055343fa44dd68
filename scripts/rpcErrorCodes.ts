/** Description of an error code, for the reference. */
export type ErrorCode = {
  readonly code: number
  /** its text, or the beginning of it */
  readonly says: string
  readonly means: string
}

/** Every error code that an answer can have, the most common first. */
export const errorCodes: readonly ErrorCode[] = [
  { code: -32700, says: 'Parse error', means: 'the body is not JSON, or exceeds the bound in `data`; the id is null' },
  { code: -32600, says: 'Invalid request', means: 'not a JSON-RPC 2.0 request, or an empty batch' },
  { code: -32601, says: 'Method not found', means: 'the method does not exist, or its namespace is not enabled on this server' },
  {
    code: -32602,
    says: 'Invalid params, or the reason',
    means: 'a parameter is malformed (`data` has the reason and position), or its value is invalid (the text has the reason)',
  },
  { code: -32603, says: 'Internal error', means: 'internal error of the node; its log has the details' },
  { code: 3, says: 'execution reverted[: reason]', means: 'the code reverted; `data` has its return data' },
  {
    code: 4,
    says: 'Transaction … was added to the mempool but wasn’t confirmed …',
    means: 'no receipt within the requested time (EIP-7966)',
  },
  { code: 4444, says: 'pruned history unavailable', means: 'the state or block existed and is not retained' },
  {
    code: -32000,
    says: 'already known, replacement transaction underpriced, intrinsic gas too low, …',
    means: 'the transaction or input is refused',
  },
  { code: -32001, says: 'block not found: …, transaction not found', means: 'the requested block or transaction does not exist' },
  {
    code: -32002,
    says: 'request timed out, or the unavailable dependency',
    means: 'the call exceeded the time-out of its cost class (`data` has it), or a dependency of the node is temporarily unavailable',
  },
  {
    code: -32003,
    says: 'nonce too low: …, insufficient funds for gas * price + value: …, …',
    means: 'the transaction or call is rejected',
  },
  { code: -32004, says: 'not supported by this version: …', means: 'a known method or option that is not supported' },
  {
    code: -32005,
    says: 'too many filters …',
    means:
      'too many filters of all clients together; idle ones end after five minutes. With `data`: the memory limit of all filters and subscriptions',
  },
  { code: -32006, says: 'Too many subscriptions, or addresses and topics, on the connection', means: '`data` has the limit' },
  { code: -32007, says: 'Request is too big', means: 'the body exceeds the limit in `data`; HTTP status 413' },
  { code: -32008, says: 'Response is too big', means: 'the answer would exceed the limit in `data`: request less' },
  {
    code: -32009,
    says: 'Server is busy, try again later',
    means: 'a cost class has reached its limit of running and waiting calls, or of unread answer bytes: `data` has limit and class',
  },
  { code: -32010, says: 'The batch request was too large', means: '`data` has the limit' },
  { code: -32015, says: 'the reason of the halt', means: 'a call of eth_simulateV1 failed without a revert, for example out of gas' },
  { code: -32016, says: 'over rate limit', means: 'HTTP status 429 with Retry-After; `data` has limit, remaining and retryAfterMs' },
  { code: -38001, says: 'Unknown payload', means: 'Engine API' },
  { code: -38002, says: 'Invalid forkchoice state', means: 'Engine API' },
  { code: -38003, says: 'Invalid payload attributes', means: 'Engine API' },
  { code: -38004, says: 'Too large request', means: 'Engine API' },
  { code: -38005, says: 'Unsupported fork', means: 'Engine API: the method version does not fit the fork at the timestamp' },
  { code: -38010, says: 'nonce too low', means: 'eth_simulateV1 with validation' },
  { code: -38011, says: 'nonce too high', means: 'eth_simulateV1 with validation' },
  { code: -38012, says: 'base fee too low', means: 'eth_simulateV1 with validation' },
  { code: -38013, says: 'intrinsic gas too low', means: 'eth_simulateV1' },
  { code: -38014, says: 'insufficient funds', means: 'eth_simulateV1' },
  { code: -38015, says: 'block gas limit reached', means: 'eth_simulateV1' },
  { code: -38020, says: 'block numbers are not in order', means: 'eth_simulateV1' },
  { code: -38021, says: 'timestamps are not in order', means: 'eth_simulateV1' },
  { code: -38022, says: 'a precompile is moved to itself', means: 'eth_simulateV1' },
  { code: -38023, says: 'two precompiles are moved to one address', means: 'eth_simulateV1' },
  { code: -38024, says: 'sender is not an EOA', means: 'eth_simulateV1 with validation' },
  { code: -38025, says: 'max initcode size exceeded', means: 'eth_simulateV1 with validation' },
  { code: -38026, says: 'too many blocks', means: 'eth_simulateV1' },
]
