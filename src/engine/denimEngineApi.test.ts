import { describe, expect, it } from 'vitest'
import { baseTimeAddress, proxyAdmin } from '#chainspec/addresses'
import { encodeBaseTimeDeposit } from '#chainspec/baseTime'
import { networkOf } from '#chainspec/networks'
import { openExecution } from '#test/contract/engine'
import { attributesAt, chainStart, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { type Deposit, decodeDeposit, encodeDeposit } from '#types/deposit'
import { hashHeader } from '#types/header'
import { zeroHash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { createEngineApi } from './engineApi.ts'
import { headerOfPayload } from './payloadHeader.ts'
import { encodeAttributes } from './payloadJson.ts'

const proxy = networkOf('base-sepolia')
  .genesis()
  .accounts.filter(({ address }) => address === baseTimeAddress)
/** Block 1 is the first Denim block. */
const schedule = scheduleTo('azul', { beryl: 0, cobalt: 0, denim: chainStart + 2 })
const chain = smallChain(schedule, proxy)
const { config } = chain

/** Returns the attributes of a block, whose time is 2 s after genesis and the given milliseconds. */
function attributesOf(number: number, millisPart: number, sec = 2): PayloadAttributes {
  const base = attributesAt(schedule, number)
  const [info = expect.fail()] = base.transactions
  return { ...base, timestamp: chainStart + sec, transactions: [info, encodeBaseTimeDeposit(number, millisPart)] }
}

const withDeposit = (attributes: PayloadAttributes, change: (deposit: Deposit) => Partial<Deposit>): PayloadAttributes => {
  const [info = expect.fail(), own = expect.fail()] = attributes.transactions
  const deposit = decodeDeposit(own)
  return { ...attributes, transactions: [info, encodeDeposit({ ...deposit, ...change(deposit) })] }
}
const withTransactions = (
  attributes: PayloadAttributes,
  of: (info: Uint8Array, deposit: Uint8Array) => readonly Uint8Array[],
): PayloadAttributes => {
  const [info = expect.fail(), deposit = expect.fail()] = attributes.transactions
  return { ...attributes, transactions: of(info, deposit) }
}

function opened() {
  const api = createEngineApi({ engine: openExecution(chain), config, clock: createManualClock() })
  const atGenesis = { head: config.genesis.l2.hash, safe: zeroHash, finalized: zeroHash }
  const build = (attributes: PayloadAttributes, head = atGenesis.head) =>
    api.forkchoiceUpdated(3, { ...atGenesis, head }, encodeAttributes(attributes))
  const built = async (attributes: PayloadAttributes, head?: typeof atGenesis.head): Promise<Payload> =>
    await api.getPayload(5, (await build(attributes, head)).payloadId ?? expect.fail('no payload id'))
  return { api, build, built }
}

describe('engine/engineApi: Denim', () => {
  const first = attributesOf(1, 0)

  it.each<[string, PayloadAttributes, string]>([
    ['no BaseTime deposit', withTransactions(first, (info) => [info]), 'missing BaseTime metadata deposit'],
    ['a signed transaction in its place', withTransactions(first, (info) => [info, signedBy('alice', {})]), 'is not a deposit'],
    ['the deposit of another block', withTransactions(first, (info) => [info, encodeBaseTimeDeposit(2, 0)]), 'source hash'],
    ['a deposit of another sender', withDeposit(first, () => ({ from: proxyAdmin })), 'sender'],
    ['a deposit with another gas limit', withDeposit(first, () => ({ gasLimit: 999_999n })), 'gas limit'],
    ['no call data', withDeposit(first, ({ data }) => ({ data: data.subarray(0, 4) })), 'calldata'],
    ['milliseconds between two blocks', withDeposit(first, ({ data }) => ({ data: data.with(35, 100) })), 'milliseconds 100'],
    ['a second setter', withTransactions(first, (info, deposit) => [info, deposit, deposit]), 'additional protocol-authorized'],
    [
      'no BaseTime deposit, and a time before the head',
      { ...withTransactions(first, (info) => [info]), timestamp: chainStart + 2 },
      'missing',
    ],
  ])('refuses attributes with %s (-32602)', async (_what, attributes, text) => {
    const { build, built, api } = opened()
    await expect(build(attributes)).rejects.toMatchObject({ code: -32602, message: expect.stringContaining(text) })
    const payload = await built(first)
    expect(await api.newPayload(4, { payload })).toEqual({ status: 'VALID', latestValidHash: payload.blockHash })
  })

  it('builds five blocks in one second, and refuses a time before the head or a missed slot (-38003)', async () => {
    const { build, built, api } = opened()
    let head = await built(first)
    for (const millisPart of [200, 400, 600, 800]) head = await built(attributesOf(head.blockNumber + 1, millisPart), head.blockHash)
    expect([head.blockNumber, head.timestamp]).toEqual([5, chainStart + 2])
    await expect(build(attributesOf(6, 0, 1), head.blockHash)).rejects.toMatchObject({ code: -38003 })
    await expect(build(attributesOf(6, 200, 3), head.blockHash)).rejects.toMatchObject({ code: -38003 })
    const next = await built(attributesOf(6, 0, 3), head.blockHash)
    expect(await api.newPayload(4, { payload: next })).toMatchObject({ status: 'VALID' })
  })

  it.each<[string, (info: Uint8Array, deposit: Uint8Array) => readonly Uint8Array[], string]>([
    ['no BaseTime deposit', (info) => [info], 'missing BaseTime metadata deposit'],
    ['the milliseconds of the slot after', (info) => [info, encodeBaseTimeDeposit(2, 400)], 'expected'],
    ['the milliseconds of the parent', (info) => [info, encodeBaseTimeDeposit(2, 0)], 'expected'],
    ['two setters', (info, deposit) => [info, deposit, deposit], 'additional protocol-authorized'],
  ])('a payload with %s is INVALID', async (_what, change, text) => {
    const { built, api } = opened()
    const parent = await built(first)
    const payload = await built(attributesOf(2, 200), parent.blockHash)
    const [info = expect.fail(), deposit = expect.fail()] = payload.transactions
    const changed = { ...payload, transactions: change(info, deposit) }
    const wrong = { ...changed, blockHash: hashHeader(headerOfPayload(schedule, changed)) }
    expect(await api.newPayload(4, { payload: wrong })).toEqual({
      status: 'INVALID',
      latestValidHash: parent.blockHash,
      validationError: expect.stringContaining(text),
    })
  })
})
