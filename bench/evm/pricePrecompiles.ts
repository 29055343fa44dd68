// The precompiles: each under the forks that change its price, its bounds or its limits.
import type { Fork } from '#chainspec/forks'
import { evmRulesAt } from '#chainspec/opRules'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { scheduleTo } from '#test/harness/chain/blocks'
import { addressFromBytes } from '#types/ids'
import { precompileAt } from '../../src/evm/precompiles/precompileAt.ts'
import { loop, op, push } from './priceCode.ts'
import { blsPoints, bn254Points, elementInputs, openingInputs, pairingInputs, productInputs, sumInputs, sumsInputs } from './priceCurves.ts'
import { blake2Inputs, hashInputs, modexpInputs, modexpLongInputs, type PricedInput, p256Inputs, recoverInputs } from './priceNumbers.ts'
import { type PricedAccount, priceView, type Trial } from './priceTrial.ts'

/** A precompile or opcode with its trials. */
export type Subject = { readonly name: string; readonly trials: () => Iterable<Trial> }

const programAt = addressFromBytes(bytesFromBigint(0xc0den, 20))

/** Call data: repetitions ‖ precompile ‖ gas ‖ input. STATICCALLs it with the input at 0 in memory; leaves nothing on the stack. */
function program(): Uint8Array {
  const head = 96
  const size = [...push(head), op.calldatasize, op.sub]
  const before = [...size, ...[op.dup1, ...push(head), ...push(0), op.calldatacopy]]
  const results = [...push(0), ...push(0)]
  // the stack at this point: size, repetitions, 0, 0
  const input = [op.dup1 + 3, ...push(0)]
  const target = [...push(32), op.calldataload, ...push(64), op.calldataload]
  return loop(before, [...results, ...input, ...target, op.staticcall, op.pop])
}

const account: PricedAccount = { address: programAt, code: program() }
const view = priceView([account])
const word = (value: number | bigint): Uint8Array => bytesFromBigint(BigInt(value), 32)

function* trialsOf(fork: Fork, number: number, inputs: Iterable<PricedInput>): Generator<Trial> {
  const rules = evmRulesAt(scheduleTo(fork), 0)
  const precompile = precompileAt(rules, BigInt(number))
  if (!precompile) throw new Error(`no precompile ${number} in ${fork}`)
  let isFirst = true
  for (const { label, input } of inputs) {
    const gas = precompile.gas(input)
    const dataFor = (given: bigint) => (repetitions: number) => concatBytes(word(repetitions), word(number), word(given), input)
    const trial = { rules, view, to: programAt }
    if (isFirst && gas > 0n) yield { ...trial, label: `${label}, not paid for`, dataFor: dataFor(gas - 1n) }
    isFirst = false
    yield { ...trial, label, dataFor: dataFor(gas) }
  }
}

const subject = (name: string, fork: Fork, number: number, inputs: () => Iterable<PricedInput>): Subject => ({
  name: `${name}, ${fork}`,
  trials: () => trialsOf(fork, number, inputs()),
})

/** The subject that all others are compared with. */
export const ecrecoverSubject: Subject = subject('ECRECOVER', 'bedrock', 1, recoverInputs)

/** The number of terms of a size that each fork's limit allows. */
const limits = (termBytes: number, ...bytes: readonly number[]): number[] => bytes.map((most) => Math.floor(most / termBytes))

/**
 * When a fork lowers a limit at the same price, its inputs are a subset of the earlier ones: such a precompile occurs once, with the sizes at the
 * limits of all forks among its inputs.
 */
export function precompileSubjects(): readonly Subject[] {
  const [bn, bls] = [bn254Points(), blsPoints()]
  return [
    ecrecoverSubject,
    subject('SHA-256', 'bedrock', 2, hashInputs),
    subject('RIPEMD-160', 'bedrock', 3, hashInputs),
    subject('identity', 'bedrock', 4, hashInputs),
    subject('MODEXP', 'bedrock', 5, modexpLongInputs),
    subject('MODEXP', 'azul', 5, modexpInputs),
    subject('bn254 addition', 'bedrock', 6, () => sumInputs(bn.g1, bn.infinity1, bn.outside1)),
    subject('bn254 multiplication', 'bedrock', 7, () => productInputs(bn)),
    subject('bn254 pairing', 'bedrock', 8, () => pairingInputs(bn, limits(192, 200_000, 112_687, 81_984))),
    subject('BLAKE2 F', 'bedrock', 9, blake2Inputs),
    subject('point evaluation', 'ecotone', 10, openingInputs),
    subject('BLS G1 addition', 'isthmus', 11, () => sumInputs(bls.g1, bls.infinity1, bls.outside1)),
    subject('BLS G1 MSM', 'isthmus', 12, () => sumsInputs(bls.g1, bls.infinity1, bls.outside1, limits(160, 513_760, 288_960))),
    subject('BLS G2 addition', 'isthmus', 13, () => sumInputs(bls.g2, bls.infinity2, bls.outside2)),
    subject('BLS G2 MSM', 'isthmus', 14, () => sumsInputs(bls.g2, bls.infinity2, bls.outside2, limits(288, 488_448, 278_784))),
    subject('BLS pairing', 'isthmus', 15, () => pairingInputs(bls, limits(384, 235_008, 156_672))),
    subject('BLS map to G1', 'isthmus', 16, () => elementInputs(1)),
    subject('BLS map to G2', 'isthmus', 17, () => elementInputs(2)),
    subject('P256VERIFY', 'fjord', 0x100, p256Inputs),
    subject('P256VERIFY', 'azul', 0x100, p256Inputs),
  ]
}
