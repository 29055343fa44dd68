import { createHash } from 'node:crypto'
import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem'
import { expect, it } from 'vitest'
import type { EvmSession, Message, Outcome } from '#evm/ports'
import { concatBytes } from '#lib/bytes'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { addressOf } from '#test/harness/evm/host'
import { emptyRequestsHash, parseHash } from '#types/ids'
import type { Log } from '#types/log'
import { createReceipt, type Receipt } from '#types/receipt'
import { collectRequests, consolidationRequestsContract, withdrawalRequestsContract } from './requests.ts'

const depositContract = addressOf(0x44)
const abi = parseAbi(['event DepositEvent(bytes pubkey, bytes withdrawal_credentials, bytes amount, bytes signature, bytes index)'])
const sizes = [48, 32, 8, 96, 8]
const fieldsOf = (seed: number): Uint8Array[] => sizes.map((size, at) => new Uint8Array(size).fill(seed + at))

function depositLog(fields: readonly Uint8Array[]): Log {
  const topics = encodeEventTopics({ abi, eventName: 'DepositEvent' }).map((topic) => parseHash(topic as Hex))
  const types = fields.map(() => ({ type: 'bytes' }))
  return { address: depositContract, topics, data: fromHex(encodeAbiParameters(types, fields.map(toHex))) }
}
const receiptOf = (...logs: readonly Log[]): Receipt => createReceipt({ type: 2, succeeded: true, cumulativeGasUsed: 0n, logs })

/** A session in which the system contracts return the given outputs; undefined: the contract fails. */
function sessionOf(outputs: Readonly<Record<string, Uint8Array | undefined>>, isDeployed = true): EvmSession {
  const run = ({ to }: Message): Outcome => {
    const output = outputs[String(to)]
    return output
      ? { kind: 'success', gasLeft: 0n, gasRefund: 0n, output, logs: [] }
      : { kind: 'revert', gasLeft: 0n, gasRefund: 0n, output: new Uint8Array(0) }
  }
  return {
    code: () => new Uint8Array(isDeployed ? 1 : 0),
    run,
    beginTransaction: () => {},
    endTransaction: () => {},
  } as unknown as EvmSession
}
const none = new Uint8Array(0)
const outputs = (withdrawals: Uint8Array | undefined, consolidations: Uint8Array | undefined): Parameters<typeof sessionOf>[0] => ({
  [withdrawalRequestsContract]: withdrawals,
  [consolidationRequestsContract]: consolidations,
})
const sha256 = (...parts: readonly Uint8Array[]): Uint8Array =>
  createHash('sha256')
    .update(concatBytes(...parts))
    .digest()

it('ethereum/requests: returns the hash of an empty list for a block without requests', () => {
  expect(collectRequests(sessionOf(outputs(none, none)), depositContract, [])).toEqual({ kind: 'requests', hash: emptyRequestsHash })
})

it('ethereum/requests: collects deposits, withdrawals and consolidations, each list under its type (EIP-7685)', () => {
  const [first, second] = [fieldsOf(1), fieldsOf(20)]
  const elsewhere = { ...depositLog(fieldsOf(40)), address: addressOf(0x45) }
  const receipts = [receiptOf(depositLog(first), elsewhere), receiptOf(depositLog(second))]
  const [withdrawals, consolidations] = [new Uint8Array(76).fill(7), new Uint8Array(116).fill(8)]
  const digests = [
    sha256(Uint8Array.of(0), ...first, ...second),
    sha256(Uint8Array.of(1), withdrawals),
    sha256(Uint8Array.of(2), consolidations),
  ]
  expect(collectRequests(sessionOf(outputs(withdrawals, consolidations)), depositContract, receipts)).toEqual({
    kind: 'requests',
    hash: toHex(sha256(...digests)),
  })
})

it.each([
  ['a contract is not deployed', sessionOf(outputs(none, none), false), [], 'withdrawal'],
  ['a contract fails', sessionOf(outputs(none, undefined)), [], 'consolidation'],
  ['a key has 47 bytes', sessionOf(outputs(none, none)), [receiptOf(depositLog([new Uint8Array(47), ...fieldsOf(1).slice(1)]))], 'deposit'],
  ['an event is truncated', sessionOf(outputs(none, none)), [receiptOf({ ...depositLog(fieldsOf(1)), data: none })], 'deposit'],
])('ethereum/requests: returns invalid when %s', (_what, session, receipts, type) => {
  expect(collectRequests(session, depositContract, receipts)).toEqual({
    kind: 'invalid',
    reason: `the ${type} requests cannot be collected`,
  })
})
