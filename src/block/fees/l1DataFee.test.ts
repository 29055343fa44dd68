import { describe, expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { readL1BlockFees } from './l1BlockSlots.ts'
import { type L1FeeParams, l1DataFee, l1FeeRuleAt } from './l1DataFee.ts'

const none: L1FeeParams = { baseFee: 0n, blobBaseFee: 0n, overhead: 0n, scalar: 0n, baseFeeScalar: 0n, blobBaseFeeScalar: 0n }

/** Transactions of recorded chains. The expected values are from the receipts of the clients that recorded them. */
const transfer = fromHex(
  '0xf86a8084b2d05e00825208949965507d1a55bcc2695c58ba16fb37d819b0a4dc842030f84b808302bf46a0b64e9d1fd7d8dd223e3d9f258364fa63e155a13f23812a73d03974e786f145d7a07b430b97116eb7f8fcb058bc5a04095910157cb1afc7cf913958cfe58870b52b',
)
const call = fromHex(
  '0x02f9011483015f9204841dcd65008504a817c80083061a8094e7f1725e7734ce288f8367e1bb143e90bb3f051280b8a46dbf2fa000000000000000000000000042000000000000000000000000000000000000150000000000000000000000000000000000000000000000000000000000030d4000000000000000000000000000000000000000000000000000000000000000600000000000000000000000000000000000000000000000000000000000000004519b4bd300000000000000000000000000000000000000000000000000000000c080a089e8e5ff028b933e10880be05902cbe82b46b1190b646785e3cbe0347fd3ed5aa055498883f2cae829f389fe7643284e04ad61974e9754cb7b927ff101307310a2',
)
const fjordCall = fromHex(
  '0x02f9015483015f9203841dcd65008504a817c800830c350094e7f1725e7734ce288f8367e1bb143e90bb3f051280b8e4c680b12400000000000000000000000000000000000000000000000000000000000000010000000000000000000000000000000000000000000000000000000000000040000000000000000000000000000000000000000000000000000000000000008038d18acb67d25c8bb9942764b62f18e17054f66a817bd4295423adf9ed98873e000000000000000000000000000000000000000000000000000000000000001b38d18acb67d25c8bb9942764b62f18e17054f66a817bd4295423adf9ed98873e789d1dd423d25f0772d2748d60f7e4b81bb14d086eba8e8e8efb6dcff8a4ae02c001a0a7ddf621c23ddb84b9addb66851d6cdf097d398769c5e74525671008d4952e04a02fac2940befc295e2d18df664220fe091f945c8782f91984cb3723f484de17db',
)
const withdrawal = fromHex(
  '0x02f9011683015f92118411e1a3008504a817c8008307a120944200000000000000000000000000000000000016820352b8a4c2b3e5ac00000000000000000000000090f79bf6eb2c4f870365e785982e1f101e93b90600000000000000000000000000000000000000000000000000000000000186a00000000000000000000000000000000000000000000000000000000000000060000000000000000000000000000000000000000000000000000000000000000f7769746864726177203532383936320000000000000000000000000000000000c080a05073ac7e3d010836b93f4e53e245f724332a621c3b23af14afb035f10c8b32bca031d7550d76c8475d1c6e575cd8548cbbfb699be2d6beebd5410ff63b23732448',
)

describe('block/fees/l1DataFee', () => {
  it.each([
    ['a transfer under Bedrock', 'bedrock', transfer, { baseFee: 230817648n, overhead: 188n, scalar: 684000n }, 1904n, 300602132425n],
    ['a call under Ecotone', 'ecotone', call, { baseFee: 301475244n, blobBaseFee: 1n, baseFeeScalar: 684000n }, 2668n, 550165790478n],
    [
      'a transaction below the minimum size under Fjord',
      'fjord',
      transfer,
      { baseFee: 118510708n, blobBaseFee: 1n, baseFeeScalar: 1368n, blobBaseFeeScalar: 810949n },
      1600n,
      259396318n,
    ],
    [
      'a call above the minimum size under Fjord',
      'fjord',
      fjordCall,
      { baseFee: 202043827n, blobBaseFee: 1n, baseFeeScalar: 1368n, blobBaseFeeScalar: 810949n },
      2263n,
      625514675n,
    ],
    [
      'a withdrawal above the minimum size under Holocene',
      'fjord',
      withdrawal,
      { baseFee: 35696128n, blobBaseFee: 1n, baseFeeScalar: 1368n, blobBaseFeeScalar: 810949n },
      1741n,
      85023691n,
    ],
  ] as const)('computes the fee of the recorded receipt for %s', (_what, rule, raw, params, gasUsed, fee) => {
    expect(l1DataFee(rule, { ...none, ...params }, raw)).toEqual({ gasUsed, fee })
  })

  /** The empty transaction at round prices: the published gas and fee of each formula. */
  it.each([
    ['beforeRegolith', 1_618n, 11_326_000_000_000n],
    ['bedrock', 530n, 3_710_000_000_000n],
    ['ecotone', 480n, 960_900n],
    ['fjord', 1_600n, 3_203_000n],
  ] as const)('computes the published gas and fee of the empty transaction: %s', (rule, gasUsed, fee) => {
    const emptyTransaction = fromHex('0xdd80808094095e7baea6a6c7c4c2dfeb977efac326af552d878080808080')
    const prices = { baseFee: 1_000_000_000n, blobBaseFee: 10_000_000n, overhead: 50n, scalar: 7_000_000n }
    expect(l1DataFee(rule, { ...prices, baseFeeScalar: 2n, blobBaseFeeScalar: 3n }, emptyTransaction)).toEqual({ gasUsed, fee })
  })

  it('adds 68 bytes of signature before Regolith', () => {
    const params = { ...none, baseFee: 1n, scalar: 1_000_000n }
    const { fee, gasUsed } = l1DataFee('bedrock', params, transfer)
    expect(l1DataFee('beforeRegolith', params, transfer)).toEqual({ gasUsed: gasUsed + 1088n, fee: fee + 1088n })
  })

  it('charges 4 gas per zero byte and 16 per other byte', () => {
    const params = { ...none, baseFee: 1n, scalar: 1_000_000n }
    expect(l1DataFee('bedrock', params, Uint8Array.of(0, 1, 0, 255)).fee).toBe(40n)
  })

  const schedule = { bedrock: 0, regolith: 10, canyon: 20, ecotone: 30, fjord: 40 }
  it.each([
    ['before Regolith', 9, none, 'beforeRegolith'],
    ['at Regolith', 10, none, 'bedrock'],
    ['before Ecotone', 29, none, 'bedrock'],
    ['in the first Ecotone block', 30, { ...none, overhead: 188n, scalar: 1n }, 'bedrock'],
    ['with an Ecotone base-fee scalar', 32, { ...none, baseFeeScalar: 1n }, 'ecotone'],
    ['with an Ecotone blob base fee', 32, { ...none, blobBaseFee: 1n }, 'ecotone'],
    ['at Fjord', 40, { ...none, blobBaseFee: 1n }, 'fjord'],
    ['when Fjord and Ecotone activate together and L1Block has no Ecotone values', 40, none, 'bedrock'],
  ])('chooses the rule %s', (_what, time, params, rule) => {
    expect(l1FeeRuleAt(schedule, time, params)).toBe(rule)
  })

  const packed = BigInt(`0x${'ff'.repeat(16)}0000055800000c5fffffffffffffffff`)
  const operator = BigInt(`0x${'ff'.repeat(18)}01900000138800000000000f4240`)
  const slots = [0n, 11n, 0n, packed, 0n, 15n, 16n, 17n, operator]
  const ecotone = { ...none, baseFee: 11n, blobBaseFee: 17n, baseFeeScalar: 0x558n, blobBaseFeeScalar: 0xc5fn }
  const noOperator = { operatorFee: { scalar: 0n, constant: 0n }, daFootprintGasScalar: 0n }

  it.each([
    ['Bedrock', 29, [1, 5, 6], { dataFee: { ...none, baseFee: 11n, overhead: 15n, scalar: 16n }, ...noOperator }],
    ['Ecotone', 30, [1, 3, 7], { dataFee: ecotone, ...noOperator }],
    ['Isthmus', 50, [1, 3, 7, 8], { dataFee: ecotone, operatorFee: { scalar: 5000n, constant: 1_000_000n }, daFootprintGasScalar: 400n }],
  ] as const)('reads only the L1Block slots of %s', (_what, time, read, fees) => {
    const asked = new Set<number>()
    const state = { slot: (_address: string, slot: string) => slots[asked.add(Number(slot)) && Number(slot)] ?? 0n }
    expect(readL1BlockFees(state, { ...schedule, isthmus: 50 }, time)).toEqual(fees)
    expect([...asked].sort()).toEqual(read)
  })
})
