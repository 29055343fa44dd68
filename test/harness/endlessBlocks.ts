import type { ForkSchedule } from '#chainspec/forks'
import { headerOfPayload } from '#engine/payloadHeader'
import { encodeDeposit } from '#types/deposit'
import type { Flashblock } from '#types/flashblock'
import { hashHeader } from '#types/header'
import { zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { testAddress } from './evm/sessions.ts'

/** Gas limit that no machine can use up. */
export const endlessGas = 2n ** 62n

// JUMPDEST PUSH0 JUMP
const loop = Uint8Array.of(0x5b, 0x5f, 0x56)
/** Code that logs 128 MiB, more than the interpreter's memory: PUSH4 08000000 PUSH0 LOG0. */
export const largeLogCode = Uint8Array.of(0x63, 8, 0, 0, 0, 0x5f, 0xa0)

/** Deposit that creates a contract, whose init code uses all of the gas. */
export const endlessDeposit = (gasLimit: bigint, code = loop): Uint8Array =>
  encodeDeposit({
    ...{ type: 0x7e, sourceHash: zeroHash, from: testAddress(0xd1), to: null, mint: 0n, value: 0n, gasLimit },
    ...{ isSystemTransaction: false, data: code },
  })

/** Returns the payload with one more transaction and the given gas limit; its block hash is recomputed. */
export function withTransaction(schedule: ForkSchedule, payload: Payload, raw: Uint8Array, gasLimit = payload.gasLimit): Payload {
  const changed = { ...payload, gasLimit, transactions: [...payload.transactions, raw] }
  return { ...changed, blockHash: hashHeader(headerOfPayload(schedule, changed)) }
}

/** Returns the flashblock with one more transaction. */
export const incrementWith = (flashblock: Flashblock | undefined, raw: Uint8Array): Flashblock => {
  if (flashblock === undefined) throw new RangeError('no flashblock')
  return { ...flashblock, transactions: [...flashblock.transactions, raw] }
}
