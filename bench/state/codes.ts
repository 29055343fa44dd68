// Code of generated contracts. Bytes after the run-time code are never executed; they make sizes realistic.
import { concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256Text } from '#lib/keccak'
import { codeOf } from '../evm/workloads.ts'

/** An ERC-20 token. Slot 0: supply; mapping 1: balances. */
export const tokenCode: Uint8Array = codeOf('Token')

/**
 * Reads the slots whose numbers are in the calldata from its second word on, and adds one to each slot before the offset in the first word.
 * Loop: `p = 32; while (p < calldatasize) { w = calldata[p]; v = sload(w) + 1; if (p < calldata[0]) sstore(w, v); p += 32 }`.
 */
export const vaultCode: Uint8Array = fromHex('0x60205b368110600a57005b803580546001015f358310601e5750506021565b90555b602001600256')

/**
 * Calls contracts in turn. Each record in the calldata is a word, `length << 160 | address`, and `length` bytes of calldata. Reverts when a call fails.
 */
export const routerCode: Uint8Array = fromHex(
  '0x5f5b368110600957005b80358060a01c80836020015f375f5f825f5f865af115602c579050016020016001565b5f5ffd',
)

/** Returns the code of a minimal proxy (EIP-1167). */
export const proxyCode = (implementation: Uint8Array): Uint8Array =>
  concatBytes(fromHex('0x363d3d373d3d3d363d73'), implementation, fromHex('0x5af43d82803e903d91602b57fd5bf3'))

/** Returns the code of an account that delegates to another (EIP-7702). */
export const delegationTo = (address: Uint8Array): Uint8Array => concatBytes(fromHex('0xef0100'), address)

/** Bytes of the smallest and the largest template. */
const [smallest, largest] = [300, 24_000]
export const templateCount = 32

/** Returns codes that behave alike, of 300 bytes (or the code's own size) to 24 kB. */
export function templatesOf(code: Uint8Array, name: string): readonly Uint8Array[] {
  return Array.from({ length: templateCount }, (_, at) => {
    const size = Math.round(smallest * (largest / smallest) ** (at / (templateCount - 1)))
    const filler: Uint8Array[] = []
    for (let left = size - code.length - 32; left > 0; left -= 32) filler.push(keccak256Text(`${name} ${at} ${left}`))
    return concatBytes(code, keccak256Text(`${name} ${at}`), ...filler)
  })
}
