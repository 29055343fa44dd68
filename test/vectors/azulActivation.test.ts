import { p256 } from '@noble/curves/nist.js'
import { describe, expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import type { Engine } from '#engine/port'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { createWorldReads } from '#state/worldReads'
import { openExecution } from '#test/contract/engine'
import { accountOf, attributesAt, chainStart, hashOf, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { type BuiltBlock, buildChain, builtGenesis } from '#test/harness/chain/executedBlocks'
import { oracleCall } from '#test/harness/evm/osakaOracle'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { encodeDeposit } from '#types/deposit'
import { type Hash, parseHash } from '#types/ids'
import { decodeTransaction, encodeTransaction, type FeeMarketTransaction } from '#types/transaction'

/** Azul begins with block 3: the block before, the first block, the block after. */
const around = [2, 3, 4] as const
const schedule = scheduleTo('jovian', { azul: chainStart + 6 })
const contract = testAddress(0xc0)
const slots = [0, 1, 2].map((index): Hash => parseHash(`0x${index.toString(16).padStart(64, '0')}`))
const callGas = 16_700_000n

/** Gas of a transaction after its intrinsic gas. */
const innerGas = (data: Uint8Array): bigint => data.reduce((left, byte) => left - (byte === 0 ? 4n : 16n), callGas - 21_000n)

const word = (value: bigint | number): Uint8Array => bytesFromBigint(BigInt(value), 32)
const hex = (value: number): string => value.toString(16).padStart(4, '0')

/** Calls a precompile with the whole input. Slot 0: success, 1: gas between two readings, 2: first word of the output. */
const measure = (precompile: number): Uint8Array => fromHex(`0x365f5f375a60205f365f61${hex(precompile)}5afa5a91905f55036001555f5160025500`)
/** Stores in slot 0 the leading zeros of the first input word. */
const countZeros = fromHex('0x5f351e5f5500')
/** Stores in slot 0 the blob base fee, in slot 1 the gas limit of the block. */
const environment = fromHex('0x4a5f554560015500')

const chainWith = (code: Uint8Array) =>
  smallChain(schedule, [testAccount(contract, { nonce: 1n, code: `0x${Buffer.from(code).toString('hex')}` })])

/** Runs the contract's code in each of four blocks. */
function runAround(code: Uint8Array, data: Uint8Array): (number: number) => { succeeded: boolean | undefined; slots: readonly bigint[] } {
  const chain = chainWith(code)
  const call = (nonce: number): Uint8Array => signedBy('alice', { nonce: BigInt(nonce), to: contract, gasLimit: callGas, data, value: 0n })
  const genesis = builtGenesis(chain)
  const blocks: BuiltBlock[] = [genesis, ...buildChain(chain.config, genesis, [[call(0)], [call(1)], [call(2)], [call(3)]])]
  return (number) => {
    const { block, state } = blocks[number] ?? expect.fail()
    const reads = createWorldReads(state, block.header.stateRoot)
    return { succeeded: block.executed[1]?.receipt.succeeded, slots: slots.map((slot) => reads.slot(contract, slot)) }
  }
}

const modexpInput = (base: Uint8Array, exponent: Uint8Array, modulus: Uint8Array): Uint8Array =>
  concatBytes(word(base.length), word(exponent.length), word(modulus.length), base, exponent, modulus)
const filled = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte)

function signature(): Uint8Array {
  const key = bytesFromBigint(7n, 32)
  const digest = filled(32, 0xd1)
  const signed = p256.sign(digest, key, { prehash: false, lowS: false, format: 'compact' })
  return concatBytes(digest, signed, p256.getPublicKey(key, false).subarray(1))
}

describe('block/execution: Azul in the block before, the first block and the block after', () => {
  it.each<[string, Uint8Array, Uint8Array]>([
    ['CLZ', countZeros, word(1n << 200n)],
    ['MODEXP at its minimum price', measure(5), modexpInput(filled(1, 3), filled(1, 3), filled(1, 7))],
    ['MODEXP of 32 bytes', measure(5), modexpInput(filled(32, 0xfe), filled(32, 0xff), filled(32, 0xef))],
    ['MODEXP of 200 bytes with a long exponent', measure(5), modexpInput(filled(200, 0xfe), filled(100, 0xff), filled(200, 0xef))],
    ['MODEXP of 1,024 bytes', measure(5), modexpInput(filled(1_024, 0xfe), filled(1, 3), filled(1_024, 0xef))],
    ['MODEXP of a base of 1,025 bytes', measure(5), modexpInput(filled(1_025, 0xfe), filled(1, 3), filled(1, 0xef))],
    ['MODEXP of an exponent of 1,025 bytes', measure(5), modexpInput(filled(1, 0xfe), filled(1_025, 3), filled(1, 0xef))],
    ['MODEXP of a modulus of 1,025 bytes', measure(5), modexpInput(filled(1, 0xfe), filled(1, 3), filled(1_025, 0xef))],
  ])('runs %s like another interpreter: under Prague before Azul, under Osaka from Azul on', async (_what, code, data) => {
    const ours = runAround(code, data)
    for (const number of around) {
      const theirs = await oracleCall(number < 3 ? 'prague' : 'osaka', { to: contract, code, data, gas: innerGas(data), slots })
      expect([number, ours(number)]).toEqual([number, theirs])
    }
  })

  it.each([
    ['that holds', signature(), 1n],
    ['that does not hold', filled(160, 1), 0n],
  ])('charges P256VERIFY of a signature %s 3,450 gas before Azul and 6,900 from Azul on', async (_what, data, holds) => {
    const [code, ours] = [measure(0x100), runAround(measure(0x100), data)]
    const [last, first, next] = around.map(ours)
    const theirs = await oracleCall('osaka', { to: contract, code, data, gas: innerGas(data), slots })
    expect([first, next]).toEqual([theirs, theirs])
    expect([first?.slots[0], holds === 1n ? first?.slots[2] : 0n]).toEqual([1n, holds])
    expect(last).toEqual({ succeeded: true, slots: [1n, (first?.slots[1] ?? 0n) - 3_450n, first?.slots[2]] })
  })

  it.each([
    ['at the limit', 427, 1n],
    ['above the limit', 428, 0n],
  ])('runs a bn254 pairing %s of Jovian equally before and after Azul', (_what, pairs, succeeds) => {
    const ours = runAround(measure(8), new Uint8Array(192 * pairs))
    const [last, first, next] = around.map(ours)
    expect(last?.slots[0]).toBe(succeeds)
    expect([first, next]).toEqual([last, last])
  })

  it('keeps a blob base fee of 1 and the same header fields before and after Azul', () => {
    const ours = runAround(environment, new Uint8Array(0))
    for (const number of around) expect(ours(number)).toEqual({ succeeded: true, slots: [1n, 30_000_000n, 0n] })
    const chain = chainWith(environment)
    const headers = buildChain(chain.config, builtGenesis(chain), [[], [], [], []]).map(({ block }) => block.header)
    const [last = expect.fail(), first = expect.fail(), next = expect.fail()] = headers.slice(1)
    expect([first, next].map((header) => Object.keys(header).sort())).toEqual([Object.keys(last).sort(), Object.keys(last).sort()])
    for (const header of [last, first, next]) {
      expect(header).toMatchObject({ excessBlobGas: 0n, blobGasUsed: 0n, extraData: last.extraData, requestsHash: last.requestsHash })
    }
  })
})

/** Engine on a chain to build on, block by block. */
async function openChain(): Promise<{ build: (number: number, transactions: readonly Uint8Array[]) => ReturnType<Engine['build']> }> {
  const chain = smallChain(schedule)
  const execution = openExecution(chain)
  let head = (await execution.heads()).unsafe
  return {
    async build(number, transactions) {
      while (head.number < number - 1) {
        const made = await execution.build(head, attributesAt(schedule, head.number + 1))
        head = made.kind === 'built' ? l2RefOf(chain.config, made.payload) : expect.fail(made.reason)
      }
      return execution.build(head, { ...attributesAt(schedule, number, transactions), gasLimit: 400_000_000n })
    },
  }
}

describe('block/validation: Azul: valid transactions of a block', () => {
  const asking = (gasLimit: bigint): Uint8Array => signedBy('alice', { gasLimit })

  it.each(around)('block %i: accepts a gas limit of 16,777,216, and a higher one only before Azul', async (number) => {
    const { build } = await openChain()
    expect((await build(number, [asking(16_777_216n)])).kind).toBe('built')
    const more = await build(number, [asking(16_777_217n)])
    if (number < 3) expect(more.kind).toBe('built')
    else expect(more).toEqual({ kind: 'invalid', reason: expect.stringContaining('transaction gas limit too high') })
  })

  it.each(around)('block %i: does not limit the gas of a deposit', async (number) => {
    const { build } = await openChain()
    const deposit = encodeDeposit({
      ...{ type: 0x7e, sourceHash: hashOf('deposit'), from: accountOf('bob'), to: testAddress(0x77), mint: 0n, value: 0n },
      ...{ gasLimit: 20_000_000n, isSystemTransaction: false, data: new Uint8Array(0) },
    })
    expect(await build(number, [deposit])).toMatchObject({ kind: 'built', payload: { transactions: { length: 2 } } })
  })

  it.each(around)('block %i: rejects blob transactions, although Osaka is active', async (number) => {
    const { build } = await openChain()
    const tx = decodeTransaction(asking(100_000n)) as FeeMarketTransaction
    const blob = encodeTransaction({
      ...tx,
      type: 3,
      to: contract,
      maxFeePerBlobGas: 1n,
      blobVersionedHashes: [`0x01${'00'.repeat(31)}` as Hash],
    })
    expect(await build(number, [blob])).toEqual({ kind: 'invalid', reason: expect.stringContaining('transaction type not supported: 3') })
  })

  it.each(around)('block %i: accepts eight MiB of transactions (no EIP-7934)', async (number) => {
    const { build } = await openChain()
    const data = new Uint8Array(1_440_000)
    const big = Array.from({ length: 6 }, (_, nonce) =>
      signedBy('alice', { nonce: BigInt(nonce), data, gasLimit: 16_000_000n, maxFeePerGas: 2_000n }),
    )
    const built = await build(number, big)
    expect(built.kind === 'built' ? built.payload.transactions.length : built.reason).toBe(7)
    expect(big.reduce((sum, raw) => sum + raw.length, 0)).toBeGreaterThan(8 * 2 ** 20)
  })
})
