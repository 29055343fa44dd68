import { decodeSolidityError } from '#types/solidityError'

const panics: Readonly<Record<string, string>> = {
  '0': 'generic/unspecified error',
  '1': 'assertion failed',
  '17': 'arithmetic underflow or overflow',
  '18': 'division or modulo by zero',
  '33': 'failed to convert value into enum type',
  '34': 'storage byte array incorrectly encoded',
  '49': 'called `.pop()` on an empty array',
  '50': 'array out-of-bounds access',
  '65': 'memory allocation error',
  '81': 'called an invalid internal function',
}

/** Text of a revert with one of the two built-in Solidity errors; undefined for any other. @param output return data of the reverted call */
export function revertReason(output: Uint8Array): string | undefined {
  const error = decodeSolidityError(output)
  if (error?.kind !== 'panic') return error?.message
  const text = panics[error.code.toString()] ?? 'unknown code'
  return `panic: ${text} (0x${error.code.toString(16).padStart(2, '0')})`
}
