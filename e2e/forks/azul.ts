import { concatHex, type Hex, keccak256, numberToHex, pad, size } from 'viem'
import { expect } from 'vitest'
import type { Cast } from './deeds.ts'
import type { Receipt, Rpc } from './reader.ts'

/** Init code that returns the code after it, with opcodes of Bedrock only. */
const deploying = (code: Hex): Hex => concatHex(['0x60', numberToHex(size(code), { size: 1 }), '0x80600b6000396000f3', code])

/** Returns the leading zeros of the first word of its input. */
const zeroCounter: Hex = deploying('0x5f351e5f5260205ff3')
/** Calls the precompile in its first word with the rest of its input; returns the success of the call, and the gas between two readings. */
const gasMeter: Hex = deploying('0x602036038060205f375a905f5f915f5f355afa5a91905f520360205260405ff3')

/** Gas of the meter itself between its readings, the call of a precompile included. @see yellow paper, appendix G; EIP-2929 */
const meterGas = 121n

const word = (value: bigint | number): Hex => numberToHex(BigInt(value), { size: 32 })
/** base 3, exponent 3, modulus 7, a byte each */
const smallModexp = concatHex([word(1), word(1), word(1), '0x030307'])
/** A modulus of 1,025 bytes. */
const wideModexp = concatHex([word(1), word(1), word(1_025), '0x0303', pad('0x07', { size: 1_025 })])

/** Precompiles and their prices before Azul and from Azul on; undefined: the call fails. @see EIP-7823, EIP-7883, EIP-7951, RIP-7212 */
const prices: readonly (readonly [what: string, precompile: Hex, input: Hex, before: bigint, from: bigint | undefined])[] = [
  ['P256VERIFY', '0x0100', keccak256('0x00'), 3_450n, 6_900n],
  ['MODEXP', '0x05', smallModexp, 200n, 500n],
  // 129 words squared, one iteration, a third of it
  ['MODEXP of 1,025 bytes', '0x05', wideModexp, 5_547n, undefined],
]

const meterInput = (precompile: Hex, input: Hex): Hex => concatHex([pad(precompile, { size: 32 }), input])

/** Returns the price of the precompile from the meter's output; undefined: its call failed. */
function meteredPrice(output: Hex): bigint | undefined {
  const [succeeded, gas] = [BigInt(`0x${output.slice(2, 66)}`), BigInt(`0x${output.slice(66)}`)]
  return succeeded === 1n ? gas - meterGas : undefined
}

/** A word with 7 leading zeros. */
const counted = { input: word(2n ** 248n), zeros: word(7) }

const mostGas = 16_777_216n

/** Actions on the last fork before Azul and on Azul. */
export type AzulDeeds = {
  readonly counter: Hex
  readonly meter: Hex
  act(phase: 'jovian' | 'azul'): Promise<void>
  /** @param receiptOf returns the receipt of a transaction in a block */
  checkTransactions(receiptOf: (hash: Hex) => Receipt | undefined): void
}

/** Deploys the contracts that show the changes of Azul. */
export async function azulDeeds({ walletOnL2, l2, fees }: Cast): Promise<AzulDeeds> {
  const [caller, identity] = [walletOnL2(7), walletOnL2(8)]
  const deploy = async (data: Hex): Promise<Hex> => {
    const hash = await caller.sendTransaction({ data, gas: 500_000n, ...fees })
    const { contractAddress } = await l2.waitForTransactionReceipt({ hash })
    return contractAddress ?? '0x'
  }
  const counter = await deploy(zeroCounter)
  const meter = await deploy(gasMeter)
  /** calls of the counter */
  const counts = new Map<string, Hex>()
  /** a transaction with one gas more than Azul allows, or the reason of its refusal */
  const askedTooMuch = new Map<string, string>()
  return {
    counter,
    meter,
    async act(phase): Promise<void> {
      const to = `0x${'99'.repeat(20)}` as const
      counts.set(phase, await caller.sendTransaction({ to: counter, data: counted.input, gas: 100_000n, ...fees }))
      await identity.sendTransaction({ to, value: 1n, gas: mostGas, ...fees })
      const why = (error: { readonly details?: string }): string => error.details ?? String(error)
      askedTooMuch.set(phase, await identity.sendTransaction({ to, value: 1n, gas: mostGas + 1n, ...fees }).catch(why))
    },
    checkTransactions(receiptOf): void {
      const [before, from] = ['jovian', 'azul'].map((phase) => receiptOf(counts.get(phase) ?? '0x'))
      expect([before?.status, before?.gasUsed, from?.status]).toEqual(['0x0', numberToHex(100_000), '0x1'])
      expect(receiptOf(askedTooMuch.get('jovian') as Hex)?.status).toBe('0x1')
      expect(askedTooMuch.get('azul')).toContain('exceeds max transaction gas limit')
    },
  }
}

/** Checks calls on the state of the last block before Azul and of its first two blocks. @param first number of the first block under Azul */
export async function checkCalls(rpc: Rpc, { counter, meter }: AzulDeeds, first: number): Promise<void> {
  const call = (to: Hex, data: Hex, number: number): Promise<Hex> =>
    rpc('eth_call', { to, data, gas: numberToHex(10_000_000) }, numberToHex(number))
  await expect(call(counter, counted.input, first - 1)).rejects.toThrow('OpcodeNotFound')
  for (const number of [first, first + 1]) expect(await call(counter, counted.input, number)).toBe(counted.zeros)
  for (const [what, precompile, input, before, from] of prices) {
    const seen = await Promise.all([-1, 0, 1].map((at) => call(meter, meterInput(precompile, input), first + at)))
    expect([what, ...seen.map(meteredPrice)]).toEqual([what, before, from, from])
  }
}
