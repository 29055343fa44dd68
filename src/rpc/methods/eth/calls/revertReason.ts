import { Buffer } from 'node:buffer'
import { bigintFromBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'

/** First four bytes of keccak of `Error(string)` and `Panic(uint256)`. @see Solidity documentation, "Control Structures: panic, error" */
const errorSelector = '0x08c379a0'
const panicSelector = '0x4e487b71'

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

const wordAt = (bytes: Uint8Array, at: number): bigint | undefined =>
  bytes.length < at + 32 ? undefined : bigintFromBytes(bytes.subarray(at, at + 32))

/** The string at the head of ABI-encoded arguments. */
function firstString(args: Uint8Array): string | undefined {
  const offset = wordAt(args, 0)
  if (offset === undefined || offset > BigInt(args.length)) return undefined
  const length = wordAt(args, Number(offset))
  const from = Number(offset) + 32
  if (length === undefined || length > BigInt(args.length - from)) return undefined
  return Buffer.from(args.subarray(from, from + Number(length))).toString('utf8')
}

function panicText(args: Uint8Array): string | undefined {
  const code = wordAt(args, 0)
  if (code === undefined) return undefined
  const text = panics[code.toString()] ?? 'unknown code'
  return `panic: ${text} (0x${code.toString(16).padStart(2, '0')})`
}

/** What a revert says of itself, when it is one of Solidity's two built-in errors. @param output return data of the reverted call */
export function revertReason(output: Uint8Array): string | undefined {
  const selector = toHex(output.subarray(0, 4))
  if (selector === errorSelector) return firstString(output.subarray(4))
  return selector === panicSelector ? panicText(output.subarray(4)) : undefined
}
