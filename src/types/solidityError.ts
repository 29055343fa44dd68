import { Buffer } from 'node:buffer'
import { bigintFromBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'

/** First four bytes of keccak of `Error(string)` and `Panic(uint256)`. @see Solidity documentation, "Control Structures: panic, error" */
const errorSelector = '0x08c379a0'
const panicSelector = '0x4e487b71'

/** One of Solidity's two built-in errors. */
export type SolidityError = { readonly kind: 'error'; readonly message: string } | { readonly kind: 'panic'; readonly code: bigint }

const wordAt = (bytes: Uint8Array, at: number): bigint | undefined =>
  bytes.length < at + 32 ? undefined : bigintFromBytes(bytes.subarray(at, at + 32))

/** Returns the string at the head of ABI-encoded arguments. */
function firstString(args: Uint8Array): string | undefined {
  const offset = wordAt(args, 0)
  if (offset === undefined || offset > BigInt(args.length)) return undefined
  const length = wordAt(args, Number(offset))
  const from = Number(offset) + 32
  if (length === undefined || length > BigInt(args.length - from)) return undefined
  return Buffer.from(args.subarray(from, from + Number(length))).toString('utf8')
}

/** Decodes the return data of a reverted call. Returns undefined when it is neither of the two errors or is malformed. */
export function decodeSolidityError(output: Uint8Array): SolidityError | undefined {
  const selector = toHex(output.subarray(0, 4))
  const args = output.subarray(4)
  if (selector === errorSelector) {
    const message = firstString(args)
    return message === undefined ? undefined : { kind: 'error', message }
  }
  const code = selector === panicSelector ? wordAt(args, 0) : undefined
  return code === undefined ? undefined : { kind: 'panic', code }
}
