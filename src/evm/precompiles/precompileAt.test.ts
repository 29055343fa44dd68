import { expect, it } from 'vitest'
import type { EvmRules } from '#chainspec/evmRules'
import { parseAddress } from '#types/ids'
import { precompileAddresses, precompileAt } from './precompileAt.ts'

const rules = (fork: EvmRules['fork'], more: Partial<EvmRules> = {}): EvmRules => ({ fork, precompileLimits: {}, ...more })
const numbers = (under: EvmRules): bigint[] => precompileAddresses(under).map(BigInt)
const upTo = (last: bigint): bigint[] => Array.from({ length: Number(last) }, (_, i) => BigInt(i + 1))

it.each([
  ['Bedrock (Paris)', rules('paris'), upTo(9n)],
  ['Canyon (Shanghai)', rules('shanghai'), upTo(9n)],
  ['Ecotone (Cancun)', rules('cancun'), upTo(0x0an)],
  ['Fjord', rules('cancun', { p256VerifyGas: 3450 }), [...upTo(0x0an), 0x100n]],
  ['Azul (Osaka)', rules('osaka', { p256VerifyGas: 6900 }), [...upTo(0x11n), 0x100n]],
  ['Isthmus (Prague)', rules('prague', { p256VerifyGas: 3450 }), [...upTo(0x11n), 0x100n]],
])('evm/precompileAt: lists the precompiles of %s by number and by address', (_name, under, expected) => {
  expect(numbers(under)).toEqual(expected)
  for (let number = 0n; number <= 0x101n; number++) {
    const address = parseAddress(`0x${number.toString(16).padStart(40, '0')}`)
    const found = precompileAt(under, number)
    expect(found !== undefined).toBe(expected.includes(number))
    expect(precompileAt(under, address)).toBe(found)
  }
  expect(precompileAt(under, 2n ** 160n - 1n)).toBeUndefined()
})

it('evm/precompileAt: P256VERIFY charges the gas of the rules', () => {
  expect(precompileAt(rules('cancun', { p256VerifyGas: 3450 }), 0x100n)?.gas(new Uint8Array(0))).toBe(3450n)
  expect(precompileAt(rules('prague', { p256VerifyGas: 6900 }), 0x100n)?.gas(new Uint8Array(0))).toBe(6900n)
})

it('evm/precompileAt: MODEXP has its new bounds and price from Osaka on', () => {
  const long = new Uint8Array(96).fill(4, 94, 95)
  long[95] = 1
  const at = (fork: EvmRules['fork']) => precompileAt(rules(fork), 5n)
  expect([at('prague')?.gas(long), at('osaka')?.gas(long)]).toEqual([5547n, 33_282n])
  expect([at('prague')?.run(long)?.length, at('osaka')?.run(long)]).toEqual([1025, undefined])
})

it.each([
  ['bn254 pairing', 0x08n, 'bn254PairingBytes', 192],
  ['G1 MSM', 0x0cn, 'blsG1MsmBytes', 160],
  ['G2 MSM', 0x0en, 'blsG2MsmBytes', 288],
  ['BLS pairing', 0x0fn, 'blsPairingBytes', 384],
] as const)('evm/precompileAt: %s runs up to its input limit and fails above it, at an unchanged price', (_name, number, limit, unit) => {
  const limited = precompileAt(rules('prague', { precompileLimits: { [limit]: 3 * unit + 7 } }), number)
  const free = precompileAt(rules('prague'), number)
  for (const units of [3, 4]) {
    const input = new Uint8Array(units * unit)
    expect(free?.run(input)).toBeInstanceOf(Uint8Array)
    expect(limited?.run(input) === undefined).toBe(units === 4)
    expect(limited?.gas(input)).toBe(free?.gas(input))
  }
})
