import { describe, expect, it } from 'vitest'
import { networkNames } from './networkNames.ts'
import { networkOf } from './networks.ts'
import { parseRollupConfig, toRollupJson } from './rollupConfig.ts'

const hash = `0x${'0a'.repeat(32)}`
const address = `0x${'0B'.repeat(20)}`
const word = `0x${'00'.repeat(31)}bc`
const json = {
  genesis: {
    l1: { hash, number: 3 },
    l2: { hash, number: 0 },
    l2_time: 1_000,
    system_config: { batcherAddr: address, overhead: word, scalar: word, gasLimit: 30_000_000 },
  },
  block_time: 2,
  max_sequencer_drift: 600,
  seq_window_size: 3_600,
  channel_timeout: 300,
  l1_chain_id: 900,
  l2_chain_id: 901,
  regolith_time: 0,
  canyon_time: 1_010,
  batch_inbox_address: address,
  deposit_contract_address: address,
  l1_system_config_address: address,
}
const systemConfig = (fields: object) => ({
  ...json,
  genesis: { ...json.genesis, system_config: { ...json.genesis.system_config, ...fields } },
})

describe('chainspec/rollupConfig', () => {
  it('fills in the defaults that op-node applies to absent keys', () => {
    const { config, warnings, hasEip1559 } = parseRollupConfig(json)
    expect(warnings).toEqual([])
    expect(hasEip1559).toBe(false)
    expect(config).toMatchObject({
      channelTimeoutGraniteBlocks: 50,
      eip1559: { elasticity: 6, denominator: 50, denominatorCanyon: 250 },
      schedule: { bedrock: 0, regolith: 0, canyon: 1_010 },
      batchInbox: address.toLowerCase(),
    })
    expect(config.schedule.ecotone).toBeUndefined()
  })

  it("accepts both clients' forms of the later system config fields", () => {
    const expected = { eip1559Denominator: 250, eip1559Elasticity: 6, operatorFeeScalar: 7, operatorFeeConstant: 9n }
    const packed = { eip1559Params: '0x000000fa00000006', operatorFeeParams: `0x${'00'.repeat(20)}00000007${'00'.repeat(7)}09` }
    const plain = { eip1559Denominator: 250, eip1559Elasticity: 6, operatorFeeScalar: 7, operatorFeeConstant: 9, minBaseFee: null }
    for (const fields of [packed, plain]) {
      expect(parseRollupConfig(systemConfig(fields)).config.genesis.systemConfig).toMatchObject(expected)
    }
  })

  it('ignores unknown keys and names them in the warnings', () => {
    const { config, warnings } = parseRollupConfig({ ...systemConfig({ color: 1 }), favourite: { color: 'blue' }, karst_time: null })
    expect(config).toEqual(parseRollupConfig(json).config)
    expect(warnings).toHaveLength(3)
    expect(warnings.join()).toMatch(/genesis\.system_config\.color .*favourite .*karst_time /)
  })

  it.each([
    ['block_time', { ...json, block_time: '2' }],
    ['block_time', { ...json, block_time: 0 }],
    ['seq_window_size', { ...json, seq_window_size: 2.5 }],
    ['l1_chain_id', { ...json, l1_chain_id: undefined }],
    ['l2_chain_id', { ...json, l2_chain_id: 900 }],
    ['batch_inbox_address', { ...json, batch_inbox_address: '0x12' }],
    ['genesis.l1.hash', { ...json, genesis: { ...json.genesis, l1: { hash: 'zz', number: 3 } } }],
    ['genesis.system_config.gasLimit', systemConfig({ gasLimit: -1 })],
    ['canyon_time', { ...json, ecotone_time: 1_009 }],
    ['base.denim', { ...json, base: { denim: 'soon' } }],
    ['chain_op_config.eip1559DenominatorCanyon', { ...json, chain_op_config: { eip1559Elasticity: 6, eip1559Denominator: 50 } }],
    ['alt_da', { ...json, alt_da: { da_commitment_type: 'KeccakCommitment' } }],
    ['the document', []],
    ['the document', null],
  ])('names a bad value of %s (INVALID_CONFIG)', (key, bad) => {
    expect(() => parseRollupConfig(bad)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', severity: 'fatal', data: expect.objectContaining({ key }) }),
    )
  })

  it('rejects the time of an unknown fork instead of ignoring it (INVALID_CONFIG)', () => {
    expect(() => parseRollupConfig({ ...json, karst_time: 5_000 })).toThrow('karst_time is 5000, expected absent')
    expect(() => parseRollupConfig({ ...json, base: { v1: 5_000 } })).toThrow('base.v1 is 5000, expected absent')
    expect(parseRollupConfig({ ...json, base: { v1: null } }).config.schedule).toEqual(parseRollupConfig(json).config.schedule)
  })

  it('a later fork implies the earlier ones, with a warning', () => {
    const { config, warnings } = parseRollupConfig({ ...json, fjord_time: 1_020 })
    expect(config.schedule).toEqual({ bedrock: 0, regolith: 0, canyon: 1_010, delta: 1_020, ecotone: 1_020, fjord: 1_020 })
    expect(warnings).toHaveLength(2)
  })

  it('reads Azul under `base`; Azul implies no other fork and requires Jovian before it (INVALID_CONFIG)', () => {
    const read = parseRollupConfig({ ...json, jovian_time: 1_030, base: { azul: 1_040 } }).config
    expect(read.schedule).toMatchObject({ isthmus: 1_030, jovian: 1_030, azul: 1_040 })
    expect(toRollupJson(read)).toMatchObject({ jovian_time: 1_030, base: { azul: 1_040 } })
    expect(() => parseRollupConfig({ ...json, base: { azul: 1_040 } })).toThrow('jovian_time is missing, expected a time, at most 1040')
    expect(() => parseRollupConfig({ ...json, jovian_time: 1_041, base: { azul: 1_040 } })).toThrow(/at most 1040, the time of base.azul/)
  })

  it("Base's own forks imply no other fork", () => {
    expect(parseRollupConfig({ ...json, base: { beryl: 1_020 } }).config.schedule).toEqual({
      bedrock: 0,
      regolith: 0,
      canyon: 1_010,
      beryl: 1_020,
    })
  })

  it.each(networkNames)('the rollup config of %s round-trips through JSON', (name) => {
    const { config } = networkOf(name)
    const parsed = parseRollupConfig(JSON.parse(JSON.stringify(toRollupJson(config))))
    expect(parsed).toEqual({ config, warnings: [], hasEip1559: true })
  })
})
