import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { headerOf } from '#test/harness/chain/headers'
import { decodeDeposit } from '#types/deposit'
import { emptyRequestsHash, parseAddress, parseHash } from '#types/ids'
import { packScalars } from './configUpdate.ts'
import { decodeL1Attributes, encodeL1Attributes, encodeL1AttributesData, l1AttributesFormat, l1AttributesOf } from './l1Info.ts'
import { networkOf } from './networks.ts'
import type { RollupConfig } from './rollupConfig.ts'
import type { SystemConfig } from './systemConfig.ts'

const schedule = {
  bedrock: 0,
  regolith: 10,
  canyon: 20,
  delta: 20,
  ecotone: 30,
  fjord: 40,
  granite: 40,
  holocene: 40,
  isthmus: 50,
  jovian: 60,
}
const config: RollupConfig = { ...networkOf('base').config, schedule }
const systemConfig: SystemConfig = {
  batcher: parseAddress(`0x${'ba'.repeat(20)}`),
  overhead: 188n,
  scalar: packScalars({ baseFeeScalar: 1_368, blobBaseFeeScalar: 810_949 }),
  gasLimit: 30_000_000n,
  eip1559Denominator: 250,
  eip1559Elasticity: 6,
  operatorFeeScalar: 0xffff_ffff,
  operatorFeeConstant: 0xffff_ffff_ffff_ffffn,
  minBaseFee: 0n,
  daFootprintGasScalar: 0,
}
const header = headerOf({ number: 17, timestamp: 1_800_000_000, excessBlobGas: 0n, requestsHash: emptyRequestsHash })
const origin = { hash: parseHash(`0x${'0a'.repeat(32)}`), header }

describe('chainspec/l1Info', () => {
  it.each([
    ['before Ecotone', 26, 28, 'bedrock', 260],
    ['first block of Ecotone', 28, 30, 'bedrock', 260],
    ['second block of Ecotone', 30, 32, 'ecotone', 164],
    ['first block of Isthmus', 48, 50, 'ecotone', 164],
    ['second block of Isthmus', 50, 52, 'isthmus', 176],
    ['first block of Jovian', 58, 60, 'isthmus', 176],
    ['second block of Jovian', 60, 62, 'jovian', 178],
  ] as const)('%s: the format changes one block after the fork', (_what, parentTimestamp, timestamp, format, length) => {
    expect(l1AttributesFormat(schedule, parentTimestamp, timestamp)).toBe(format)
    const raw = encodeL1Attributes(config, origin, systemConfig, { parentTimestamp, timestamp, sequenceNumber: 3 })
    const { data } = decodeDeposit(raw)
    expect(data).toHaveLength(length)
    expect(decodeL1Attributes(data)).toEqual(
      l1AttributesOf(config, origin, systemConfig, { parentTimestamp, timestamp, sequenceNumber: 3 }),
    )
  })

  it("an unset DA footprint scalar means 400 when Jovian's attributes start before L1 sets it", () => {
    const times = { parentTimestamp: 60, timestamp: 62, sequenceNumber: 0 }
    expect(l1AttributesOf(config, origin, systemConfig, times).daFootprintGasScalar).toBe(400)
    expect(l1AttributesOf(config, origin, { ...systemConfig, daFootprintGasScalar: 7 }, times).daFootprintGasScalar).toBe(7)
  })

  it('is a system transaction of 150 million gas before Regolith, and a normal one of 1 million gas from Regolith on', () => {
    const at = (parentTimestamp: number, timestamp: number) =>
      decodeDeposit(encodeL1Attributes(config, origin, systemConfig, { parentTimestamp, timestamp, sequenceNumber: 0 }))
    expect(at(6, 8)).toMatchObject({ gasLimit: 150_000_000n, isSystemTransaction: true })
    expect(at(8, 10)).toMatchObject({ gasLimit: 1_000_000n, isSystemTransaction: false })
  })

  it('arbitrary bytes either decode to attributes that re-encode to them, or are rejected (MALFORMED_L1_ATTRIBUTES)', () => {
    const selectors = ['015d8eb9', '440a5e20', '098999be', '3db6be2b'].map((hex) => Buffer.from(hex, 'hex'))
    const data = fc
      .tuple(fc.constantFrom(...selectors), fc.uint8Array({ maxLength: 260, size: 'max' }))
      .map(([selector, rest]) => new Uint8Array(Buffer.concat([selector, rest])))
    const sized = fc.oneof(
      data,
      fc.constantFrom([0, 260], [1, 164], [2, 176], [3, 178]).chain(([at = 0, length = 0]) =>
        fc.uint8Array({ minLength: length - 4, maxLength: length - 4 }).map((rest) => {
          // keep 8-byte numbers below 2^53
          for (const from of at === 0 ? [0, 32, 128] : [8, 16, 24]) rest.fill(0, from, from + (at === 0 ? 26 : 2))
          return new Uint8Array(Buffer.concat([selectors[at] ?? Buffer.alloc(0), rest]))
        }),
      ),
    )
    fc.assert(
      fc.property(sized, (bytes) => {
        try {
          const info = decodeL1Attributes(bytes)
          expect(decodeL1Attributes(encodeL1AttributesData(info))).toEqual(info)
        } catch (error) {
          expect(error).toMatchObject({ code: 'MALFORMED_L1_ATTRIBUTES' })
        }
      }),
    )
  })
})
