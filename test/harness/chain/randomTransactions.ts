import type { GenesisAccount } from '#chainspec/genesis'
import { concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import type { Address } from '#types/ids'
import { testAccount, testAddress } from '../evm/sessions.ts'
import { accountOf, signedBy } from './blocks.ts'

/** Encodes a number in 32 bytes. */
export const word = (value: number): Uint8Array => fromHex(`0x${value.toString(16).padStart(64, '0')}`)
const contract = (number: number, code: string): { address: Address; account: GenesisAccount } => ({
  address: testAddress(number),
  account: testAccount(testAddress(number), { nonce: 1n, code: `0x${code}` }),
})
/** Runs SSTORE(first word, second word), then LOG1 with the same words. */
export const setter = contract(0x5e, '6020356000355560203560005260003560206000a1')
/** Runs SSTORE(NUMBER, BLOCKHASH(NUMBER − 1)). */
export const noter = contract(0xb1, '60014303404355')
/** Returns BALANCE(CALLER), BLOCKHASH(NUMBER − 1). */
export const reader = contract(0x4e, '3331600052600143034060205260406000f3')
/** Writes a slot, then reverts. */
const reverter = contract(0xba, '600160005560006000fd')
/** Contracts of the genesis. */
export const contracts = [setter, noter, reader, reverter]

/** Init codes: the first contract writes and stays, the second destroys itself during creation. */
const initCodes = ['600160005560016000526001601ff3', '6001600055600135ff'].map((code) => fromHex(`0x${code}`))
/** Slots that the setter writes. */
export const slots = [0, 1, 2, 3, 4, 5, 6, 7]
/** Accounts that hold or receive wei. */
export const people = [accountOf('alice'), accountOf('bob'), accountOf('carol'), testAddress(0xfe), testAddress(0x77)]

/** Generates transactions of alice and bob: transfers, writes, creations, reverts. */
export function* randomTransactions(roll: (below: number) => number): Generator<Uint8Array, never> {
  const nonces = { alice: 0n, bob: 0n }
  for (;;) {
    const name = roll(2) === 0 ? 'alice' : 'bob'
    const fields = { nonce: nonces[name]++, gasLimit: 200_000n, value: 0n }
    const call = (to: Address, data: Uint8Array) => signedBy(name, { ...fields, to, data })
    const kind = roll(7)
    if (kind < 2) yield signedBy(name, { ...fields, to: people[roll(people.length)] as Address, value: BigInt(roll(1_000)) })
    else if (kind < 4) yield call(setter.address, concatBytes(word(roll(slots.length)), word(roll(3))))
    else if (kind === 4) yield call(noter.address, word(0))
    else if (kind === 5) yield signedBy(name, { ...fields, to: null, data: initCodes[roll(initCodes.length)] as Uint8Array })
    else yield call(reverter.address, word(0))
  }
}
