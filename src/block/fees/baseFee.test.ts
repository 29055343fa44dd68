import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '#lib/hex'
import {
  decodeExtraData,
  eip1559ParamsRefusal,
  encodeExtraData,
  extraDataFormAt,
  extraDataRefusal,
} from '../validation/eip1559ExtraData.ts'
import { childBaseFee, nextBaseFee } from './baseFee.ts'

const eip1559 = { elasticity: 6, denominator: 50, denominatorCanyon: 250 }
const schedule = { bedrock: 0, regolith: 0, canyon: 100, ecotone: 200, holocene: 300, isthmus: 400, jovian: 500 }
const config = { eip1559, schedule }
const free = '0x616c6c20796f7572'
const own = { denominator: 250, elasticity: 6, minBaseFee: 0n }

describe('block/fees/baseFee', () => {
  /** Recorded blocks with shifted times: [title, parent's time, gas limit, gas used, blob gas used, extra data, base fee, child's time, base fee]. */
  it.each([
    ['Bedrock', 2, 30000000, 75165, 0, '0x', 980000000, 4, 960694647],
    ['the first Canyon block, with the new denominator', 98, 30000000, 63965, 0, '0x', 810501428, 100, 807300898],
    ['Canyon', 100, 30000000, 46865, 0, free, 807300898, 102, 804101962],
    ['Ecotone', 200, 40000000, 1498351, 0, '0x', 739742276, 202, 737448344],
    ['the first Holocene block', 298, 40000000, 744474, 0, '0x', 650346195, 300, 648035310],
    ['Holocene, with the chain’s parameters', 300, 40000000, 367730, 0, '0x00000000fa00000006', 648035310, 302, 645586150],
    ['Holocene, with the block’s own parameters', 302, 43000000, 302252, 0, '0x000000006400000004', 581294620, 304, 575645114],
    ['Isthmus', 400, 44000000, 2772356, 0, '0x00000000fa00000006', 786492729, 402, 784536088],
    ['the first Jovian block', 498, 43000000, 237617, 0, '0x000000006400000004', 636631150, 500, 630405559],
    ['Jovian', 500, 43000000, 2324675, 0, '0x0100000064000000040000000000000000', 630405559, 502, 625464749],
    ['Jovian, at the minimum base fee', 502, 43000000, 323073, 120000, '0x0100000064000000040000000059682f00', 500201600, 504, 1500000000],
  ])('computes the recorded base fee: %s', (_what, timestamp, gasLimit, gasUsed, blobGasUsed, extraData, baseFee, childTime, expected) => {
    const parent = {
      timestamp,
      gasLimit: BigInt(gasLimit),
      gasUsed: BigInt(gasUsed),
      blobGasUsed: BigInt(blobGasUsed),
      extraData: fromHex(extraData),
      baseFeePerGas: BigInt(baseFee),
    }
    expect(childBaseFee(config, parent, childTime)).toBe(BigInt(expected))
  })

  it.each([
    ['keeps the fee at the target', 1000n, 100n, 100n],
    ['raises the fee in proportion above the target', 1000n, 200n, 110n],
    ['raises the fee by at least 1 wei above the target', 1000n, 101n, 101n],
    ['rounds a fall below the target to zero', 1000n, 99n, 100n],
    ['lowers the fee by 1/denominator when no gas is used', 1000n, 0n, 90n],
  ])('%s', (_what, gasLimit, used, expected) => {
    const params = { denominator: 10, elasticity: 10, minBaseFee: 0n }
    expect(nextBaseFee({ baseFee: 100n, gasLimit, gasMetered: used }, params)).toBe(expected)
  })

  it('uses the DA footprint when it exceeds the gas used, from Jovian on', () => {
    const parent = {
      timestamp: 500,
      gasLimit: 60n,
      gasUsed: 1n,
      blobGasUsed: 60n,
      extraData: fromHex('0x01000000060000000600000000000000ff'),
    }
    expect(childBaseFee(config, { ...parent, baseFeePerGas: 600n }, 502)).toBe(1100n)
  })

  it('returns undefined when the parent’s extra data cannot be decoded', () => {
    const parent = { timestamp: 300, gasLimit: 60n, gasUsed: 1n, blobGasUsed: 0n, extraData: fromHex('0x00'), baseFeePerGas: 600n }
    expect(childBaseFee(config, parent, 302)).toBeUndefined()
  })
})

describe('block/validation/eip1559ExtraData', () => {
  it.each([
    [299, 'empty'],
    [300, 'holocene'],
    [499, 'holocene'],
    [500, 'jovian'],
  ])('chooses the format by time: at %i it is %s', (time, form) => {
    expect(extraDataFormAt(schedule, time)).toBe(form)
  })

  it.each([
    ['holocene', '0x0000006400000004', 7n, '0x000000006400000004'],
    ['holocene', '0x0000000000000000', 7n, '0x00000000fa00000006'],
    ['jovian', '0x0000006400000004', 1_500_000_000n, '0x0100000064000000040000000059682f00'],
    ['jovian', '0x0000000000000000', 0n, '0x01000000fa000000060000000000000000'],
  ] as const)('encodes in format %s: attributes %s with minimum %i as %s', (form, params, minBaseFee, extraData) => {
    expect(toHex(encodeExtraData(form, fromHex(params), own, minBaseFee))).toBe(extraData)
  })

  it.each([
    [undefined, 'eip1559Params are missing'],
    ['0x00', 'eip1559Params of 1 bytes'],
    ['0x0000000000000001', 'eip1559Params: denominator is zero'],
    ['0x0000000100000000', 'eip1559Params: elasticity is zero'],
    ['0x0000000000000000', undefined],
    ['0x0000000100000001', undefined],
  ])('checks the attributes %s: %s', (params, refusal) => {
    expect(eip1559ParamsRefusal(params === undefined ? undefined : fromHex(params))).toBe(refusal)
  })

  it.each([
    ['empty', '0x', undefined],
    ['empty', '0x00', 'extra data of 1 bytes, 0 expected'],
    ['holocene', '0x00000000fa00000006', undefined],
    ['holocene', '0x', 'extra data of 0 bytes, 9 expected'],
    ['holocene', '0x01000000fa00000006', 'extra data of version 1, 0 expected'],
    ['holocene', '0x000000000000000006', 'extra data: denominator is zero'],
    ['holocene', '0x00000000fa00000000', 'extra data: elasticity is zero'],
    ['jovian', '0x00000000fa00000006', 'extra data of 9 bytes, 17 expected'],
    ['jovian', '0x00000000fa000000060000000000000000', 'extra data of version 0, 1 expected'],
    ['jovian', '0x01000000fa000000060000000000000000', undefined],
  ] as const)('checks in format %s the extra data %s: %s', (form, extraData, refusal) => {
    expect(extraDataRefusal(form, fromHex(extraData))).toBe(refusal)
  })

  it('decodes zeros in a parent as the chain’s parameters, with the parent’s own minimum', () => {
    expect(decodeExtraData('holocene', fromHex('0x000000000000000000'), own)).toEqual(own)
    expect(decodeExtraData('jovian', fromHex('0x0100000000000000000000000000000009'), own)).toEqual({ ...own, minBaseFee: 9n })
    expect(decodeExtraData('jovian', fromHex('0x00'), own)).toBeUndefined()
  })
})
