import { describe, expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { parseHash } from '#types/ids'
import { encodePayload, parseAttributes, parsePayload } from './payloadJson.ts'

const word = (digit: string) => `0x${digit.repeat(64)}`
const address = `0x${'ab'.repeat(20)}`

/** Fields of a payload in every fork. */
const bedrock = {
  parentHash: word('1'),
  feeRecipient: address,
  stateRoot: word('2'),
  receiptsRoot: word('3'),
  logsBloom: `0x${'00'.repeat(256)}`,
  prevRandao: word('4'),
  blockNumber: '0x7',
  gasLimit: '0x1c9c380',
  gasUsed: '0x5208',
  timestamp: '0x6b0177e2',
  extraData: '0x',
  baseFeePerGas: '0x3b9aca00',
  blockHash: word('5'),
  transactions: ['0x7e01', '0x02'],
}
const isthmus = { ...bedrock, withdrawals: [], blobGasUsed: '0x0', excessBlobGas: '0x0', withdrawalsRoot: word('6') }

const refusal = (key: string) => expect.objectContaining({ code: 'MALFORMED_PAYLOAD', data: expect.objectContaining({ key }) })

describe('engine/payloadJson: payloads', () => {
  it.each([
    ['Bedrock', bedrock],
    ['Canyon', { ...bedrock, withdrawals: [] }],
    ['Isthmus', isthmus],
  ])('%s: encodes a parsed payload to the same JSON', (_fork, json) => {
    expect(encodePayload(parsePayload(json))).toEqual(json)
  })

  it('null and unknown fields are ignored', () => {
    const payload = parsePayload({ ...bedrock, withdrawals: null, depositRequests: null, later: '0x1' })
    expect(encodePayload(payload)).toEqual(bedrock)
    expect(payload).not.toHaveProperty('withdrawals')
  })

  it('takes the parent beacon block root from the separate parameter', () => {
    expect(parsePayload(isthmus, parseHash(word('9'))).parentBeaconBlockRoot).toBe(word('9'))
    expect(parsePayload(isthmus)).not.toHaveProperty('parentBeaconBlockRoot')
  })

  it.each([
    ['parentHash', '0x12'],
    ['feeRecipient', word('1')],
    ['logsBloom', '0x'],
    ['blockNumber', '0x20000000000000'],
    ['blockNumber', 7],
    ['gasUsed', '0x10000000000000000'],
    ['timestamp', '0x'],
    ['transactions.1', '0x123'],
    ['withdrawals', [{}]],
    ['baseFeePerGas', '12'],
  ])('refuses and names %s %j (MALFORMED_PAYLOAD)', (key, value) => {
    const [field = '', index] = key.split('.')
    const json = { ...bedrock, [field]: index === undefined ? value : ['0x', value] }
    expect(() => parsePayload(json)).toThrow(refusal(key))
  })

  it.each([[null], ['payload'], [[]]])('refuses %j as a payload (MALFORMED_PAYLOAD)', (json) => {
    expect(() => parsePayload(json)).toThrow(expect.objectContaining({ code: 'MALFORMED_PAYLOAD' }))
  })
})

describe('engine/payloadJson: attributes', () => {
  const jovian = {
    timestamp: '0x6b0177e2',
    prevRandao: word('4'),
    suggestedFeeRecipient: address,
    withdrawals: [],
    parentBeaconBlockRoot: word('7'),
    transactions: ['0x7e01'],
    noTxPool: true,
    gasLimit: '0x1c9c380',
    eip1559Params: '0x000000fa00000006',
    minBaseFee: 1_500_000_000,
  }

  it('reads the OP fields; the minimum base fee is a number or a quantity', () => {
    const attributes = parseAttributes(jovian)
    expect(attributes).toMatchObject({ timestamp: 0x6b0177e2, noTxPool: true, gasLimit: 30_000_000n, minBaseFee: 1_500_000_000n })
    expect(toHex(attributes.eip1559Params ?? new Uint8Array(0))).toBe(jovian.eip1559Params)
    expect(parseAttributes({ ...jovian, minBaseFee: '0x9' }).minBaseFee).toBe(9n)
  })

  it('without them there are no transactions, and the pool is used', () => {
    const { transactions: _transactions, noTxPool: _pool, eip1559Params: _params, minBaseFee: _fee, ...plain } = jovian
    const attributes = parseAttributes({ ...plain, withdrawals: null })
    expect(attributes).toMatchObject({ transactions: [], noTxPool: false })
    for (const field of ['eip1559Params', 'minBaseFee', 'withdrawals']) expect(attributes).not.toHaveProperty(field)
  })

  it.each([
    ['gasLimit', undefined],
    ['eip1559Params', '0x00'],
    ['minBaseFee', -1],
    ['noTxPool', 'yes'],
    ['withdrawals', [{}]],
  ])('refuses and names %s %j (MALFORMED_PAYLOAD)', (key, value) => {
    expect(() => parseAttributes({ ...jovian, [key]: value })).toThrow(refusal(key))
  })
})
