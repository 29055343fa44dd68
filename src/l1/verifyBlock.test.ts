import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { fromHex, toHex, toQuantity } from '#lib/hex'
import { headerOf } from '#test/harness/chain/headers'
import { type Header, hashHeader } from '#types/header'
import { headerFromJson } from '#types/headerJson'
import { emptyRequestsHash, emptyRoot, parseHash, zeroHash } from '#types/ids'
import { type Json, listOf, objectOf, ShapeError } from '#types/jsonShape'
import { transactionFromJson } from '#types/transactionJson'
import { receiptFromJson } from './receiptJson.ts'
import { verifyBody, verifyHeader } from './verifyBlock.ts'

const { l1 } = readRecordedChain()
const prague: Header = headerOf({
  withdrawalsRoot: emptyRoot,
  blobGasUsed: 0n,
  excessBlobGas: 131_072n,
  parentBeaconBlockRoot: zeroHash,
  requestsHash: emptyRequestsHash,
})

function jsonOf(header: Header): Json {
  return {
    ...header,
    sha3Uncles: header.ommersHash,
    miner: header.beneficiary,
    logsBloom: toHex(header.logsBloom),
    difficulty: '0x0',
    number: toQuantity(header.number),
    gasLimit: toQuantity(header.gasLimit),
    gasUsed: '0x0',
    timestamp: toQuantity(header.timestamp),
    extraData: toHex(header.extraData),
    nonce: toHex(header.nonce),
    baseFeePerGas: toQuantity(header.baseFeePerGas ?? 0n),
    blobGasUsed: '0x0',
    excessBlobGas: '0x20000',
    hash: hashHeader(header),
    size: '0x25f',
    transactions: [],
    uncles: [],
  }
}

/** Replaces a value in a document, at the path that the picks select. */
function damage(json: unknown, picks: Iterator<number>, value: unknown): void {
  let at = json as Record<string, unknown>
  for (;;) {
    const keys = Object.keys(at)
    const key = keys[(picks.next().value ?? 0) % keys.length] ?? ''
    const next = at[key]
    const isLeaf = typeof next !== 'object' || next === null || Object.keys(next).length === 0
    if (isLeaf || (picks.next().value ?? 0) % 4 === 0) {
      at[key] = value
      return
    }
    at = next as Record<string, unknown>
  }
}

describe('l1/verifyBlock', () => {
  it("refuses a receipt whose type exceeds a byte, because its encoding would equal another's", () => {
    const receipts = l1.blocks.flatMap((block) => block.receipts)
    const typed = receipts.find(({ type }) => type === '0x2') ?? expect.fail()
    expect(receiptFromJson(typed).type).toBe(2)
    expect(() => receiptFromJson({ ...typed, type: '0x102' })).toThrow(ShapeError)
  })

  it('verifies every block of a recorded L1, blob transactions included', () => {
    for (const { block, receipts } of l1.blocks) {
      const header = verifyHeader(block)
      if (header.kind === 'mismatch') expect.fail(header.what)
      const transactions = (block['transactions'] as unknown[]).map((tx) => transactionFromJson(tx) ?? expect.fail('unknown type'))
      const body = verifyBody(header.value, transactions, receipts.map(receiptFromJson))
      expect(body.kind).toBe('verified')
    }
  })

  describe('the hashes in the response, in place of the root of a block with blobs', () => {
    const at = l1.blocks.findIndex(({ block }) => (block['transactions'] as Json[]).some(({ type }) => type === '0x3'))
    const parts = (number: number) => {
      const { block, receipts } = l1.blocks[number] ?? expect.fail()
      const items = block['transactions'] as readonly Json[]
      return {
        raws: items.map((tx) => transactionFromJson(tx) ?? expect.fail()),
        hashes: items.map(({ hash }) => parseHash(String(hash))),
        receipts: receipts.map(receiptFromJson),
        // anvil's root: not that of these transactions
        checked: (() => {
          const header = { ...headerFromJson(block), transactionsRoot: zeroHash }
          return { header, ref: { hash: hashHeader(header), number, parentHash: header.parentHash, timestamp: header.timestamp } }
        })(),
      }
    }
    const { raws, hashes, receipts, checked } = parts(at)

    it('are accepted when each matches its transaction; without them the root decides', () => {
      expect(verifyBody(checked, raws, receipts, hashes)).toMatchObject({ kind: 'verified', value: { transactions: raws } })
      expect(verifyBody(checked, raws, receipts)).toMatchObject({ kind: 'mismatch', what: 'transactions root' })
    })

    it('are ignored in a block without blobs', () => {
      const plain = l1.blocks.findIndex(({ block }) => {
        const types = (block['transactions'] as Json[]).map(({ type }) => type)
        return types.length > 0 && !types.includes('0x3')
      })
      const other = parts(plain)
      expect(verifyBody(other.checked, other.raws, other.receipts, other.hashes)).toMatchObject({ what: 'transactions root' })
    })

    it.each([
      ['a transaction with one byte changed', raws.map((raw) => raw.with(40, (raw[40] ?? 0) ^ 1)), hashes, 'hash of transaction 0'],
      ['a hash of another transaction', raws, [zeroHash, ...hashes.slice(1)], 'hash of transaction 0'],
      ['no hash', raws, [], 'hash of transaction 0'],
      ['a transaction too many', [...raws, ...raws], [...hashes, ...hashes], 'number of transactions'],
    ])('%s is a mismatch', (_what, given, listed, what) => {
      expect(verifyBody(checked, given, receipts, listed)).toMatchObject({ kind: 'mismatch', what })
    })

    it('do not replace the receipts root', () => {
      const [first = expect.fail(), ...others] = receipts
      const wrong = [{ ...first, succeeded: !first.succeeded }, ...others]
      expect(verifyBody(checked, raws, wrong, hashes)).toMatchObject({ kind: 'mismatch', what: 'receipts root' })
    })
  })

  it.each([
    ['a hash', { blockAccessListHash: emptyRoot }, [fromHex(emptyRoot)]],
    ['a number', { slotNumber: '0x1b4' }, [fromHex('0x01b4')]],
    ['a zero', { slotNumber: '0x0' }, [new Uint8Array()]],
    [
      'both, in another order than in the response',
      { slotNumber: '0x1b4', blockAccessListHash: emptyRoot },
      [fromHex(emptyRoot), fromHex('0x01b4')],
    ],
  ])('finds fields of later forks by the hash: %s', (_what, fields, extra) => {
    const header = { ...prague, extra }
    const verdict = verifyHeader({ ...jsonOf(header), ...fields, totalDifficulty: '0x0', l1BlockNumber: '0x5' })
    expect(verdict).toMatchObject({ kind: 'verified', value: { ref: { hash: hashHeader(header) } } })
  })

  it('a header that no arrangement makes match its hash is a mismatch', () => {
    const later = { blockAccessListHash: emptyRoot, slotNumber: '0x1b4' }
    expect(verifyHeader({ ...jsonOf(prague), ...later, timestamp: '0x1' })).toMatchObject({ kind: 'mismatch', what: 'hash' })
  })

  it.each([
    ['a missing field', { parentHash: undefined }],
    ['a later field without an earlier one', { blobGasUsed: null }],
    ['a short hash', { stateRoot: '0x12' }],
    ['a number for a quantity', { timestamp: 5 }],
    ['a quantity beyond u64', { timestamp: '0xffffffffffffffffff' }],
  ])('refuses a header with %s (ShapeError)', (_what, fields) => {
    expect(() => verifyHeader({ ...jsonOf(prague), ...fields })).toThrow(ShapeError)
  })

  it('random damage to a block is a mismatch, a refusal, or harmless: never another block', () => {
    const whole = l1.blocks.filter(({ receipts }) => receipts.length > 0)
    const values = fc.oneof(
      fc.constantFrom(null, 1, '', '0x', '0x0', `0x${'ff'.repeat(40)}`, `0x${'zz'.repeat(32)}`, [], {}, '0x1'),
      fc.jsonValue(),
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...whole),
        fc.array(fc.nat(), { minLength: 16, maxLength: 16 }),
        values,
        ({ block, receipts }, picks, value) => {
          const damaged = structuredClone({ block, receipts })
          damage(damaged, picks.values(), value)
          try {
            const header = verifyHeader(objectOf(damaged.block, 'block'))
            if (header.kind === 'mismatch') return
            const transactions = listOf(damaged.block['transactions'], 'transactions').map(transactionFromJson)
            const body = verifyBody(
              header.value,
              transactions.filter((raw) => raw !== undefined),
              listOf(damaged.receipts, 'receipts').map(receiptFromJson),
            )
            if (body.kind === 'verified') expect(body.value.ref.hash).toBe(block['hash'])
          } catch (error) {
            expect(error).toBeInstanceOf(ShapeError)
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['nothing', null],
    ['a text', '0x02'],
    ['no nonce', { type: '0x2' }],
    ['a bad v', { type: '0x0', nonce: '0x0', gas: '0x1', value: '0x0', input: '0x', r: '0x1', s: '0x1', gasPrice: '0x1', v: '0x5' }],
  ])('refuses a transaction with %s (ShapeError)', (_what, json) => {
    expect(() => transactionFromJson(json)).toThrow(ShapeError)
  })

  it('returns undefined for a transaction of an unknown type, so that its raw bytes are requested', () => {
    expect(transactionFromJson({ type: '0x6', hash: zeroHash })).toBeUndefined()
  })
})
