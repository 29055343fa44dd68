import { decodeSolidityError } from '#types/solidityError'

/** Other clients' texts for Solidity's panics in traces; `eth_call` uses different texts. */
const panics: Readonly<Record<string, string>> = {
  '0': 'generic panic',
  '1': 'assert(false)',
  '17': 'arithmetic underflow or overflow',
  '18': 'division or modulo by zero',
  '33': 'enum overflow',
  '34': 'invalid encoded storage byte array accessed',
  '49': 'out-of-bounds array access; popping on an empty array',
  '50': 'out-of-bounds access of an array or bytesN',
  '65': 'out of memory',
  '81': 'uninitialized function',
}

/** Returns the reason of a revert in a trace, for Solidity's two built-in errors only. @param output revert data */
export function revertReason(output: Uint8Array): string | undefined {
  const error = decodeSolidityError(output)
  if (error?.kind !== 'panic') return error?.message
  return panics[error.code.toString()] ?? `unknown panic code: 0x${error.code.toString(16)}`
}
