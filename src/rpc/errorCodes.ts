/** What an error of a code tells, for the reference. */
export type ErrorCode = {
  readonly code: number
  /** its text, or how it begins */
  readonly says: string
  readonly means: string
}

/** Every code that an answer can have, by what callers know first. */
export const errorCodes: readonly ErrorCode[] = [
  { code: -32700, says: 'Parse error', means: 'the body is not JSON, or exceeds the bound in `data`; id null' },
  { code: -32600, says: 'Invalid request', means: 'no JSON-RPC 2.0 request, or an empty batch' },
  { code: -32601, says: 'Method not found', means: 'there is no such method, or its namespace is not served here' },
  {
    code: -32602,
    says: 'Invalid params, or why',
    means: 'a parameter cannot be read (`data` says why and where), or makes no sense (the text says why)',
  },
  { code: -32603, says: 'Internal error', means: 'a mistake of the node: it is in its log' },
  { code: 3, says: 'execution reverted[: reason]', means: 'code reverted; `data` has what it returned' },
  {
    code: 4,
    says: 'Transaction … was added to the mempool but wasn’t confirmed …',
    means: 'the receipt did not come in the time given (EIP-7966)',
  },
  { code: 4444, says: 'pruned history unavailable', means: 'the state or block was there once and is not kept' },
  {
    code: -32000,
    says: 'already known, replacement transaction underpriced, intrinsic gas too low, …',
    means: 'a transaction or input is refused',
  },
  { code: -32001, says: 'block not found: …, transaction not found', means: 'what is asked about is not there' },
  {
    code: -32002,
    says: 'request timed out, or what is away',
    means: 'it took longer than its class of cost allows (`data` has the limit), or what the answer hangs on is away for now',
  },
  { code: -32003, says: 'nonce too low: …, insufficient funds for gas * price + value: …, …', means: 'a transaction or call is rejected' },
  { code: -32004, says: 'not supported by this version: …', means: 'known, and not offered' },
  {
    code: -32005,
    says: 'too many filters …',
    means:
      'filters of all clients together; idle ones end after five minutes. With `data`: the memory of all filters and subscriptions, and its limit',
  },
  { code: -32006, says: 'Too many subscriptions, or addresses and topics, on the connection', means: '`data` has the limit' },
  { code: -32007, says: 'Request is too big', means: 'the body is over the limit in `data`; HTTP status 413' },
  { code: -32008, says: 'Response is too big', means: 'the answer would be over the limit in `data`: ask for less' },
  {
    code: -32009,
    says: 'Server is busy, try again later',
    means: 'as many calls of a class of cost run and wait as may, or too much of their answers is unread: `data` has limit and class',
  },
  { code: -32010, says: 'The batch request was too large', means: '`data` has the limit' },
  { code: -32015, says: 'why a call halted', means: 'in a call of eth_simulateV1 that ended without a revert, as out of gas' },
  { code: -32016, says: 'over rate limit', means: 'HTTP status 429 with Retry-After; `data` has limit, remaining and retryAfterMs' },
  { code: -38001, says: 'Unknown payload', means: 'Engine API' },
  { code: -38002, says: 'Invalid forkchoice state', means: 'Engine API' },
  { code: -38003, says: 'Invalid payload attributes', means: 'Engine API' },
  { code: -38004, says: 'Too large request', means: 'Engine API' },
  { code: -38005, says: 'Unsupported fork', means: 'Engine API: the version of the method is not the one of the time' },
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
