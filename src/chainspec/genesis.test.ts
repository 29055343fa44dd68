import { describe, expect, it } from 'vitest'
import { hashHeader } from '#types/header'
import { emptyRequestsHash, emptyRoot, parseAddress, parseHash } from '#types/ids'
import { agreeWithGenesis, genesisHeader, verifyGenesisHash } from './genesis.ts'
import { parseCompactGenesis, parseGethGenesis } from './genesisJson.ts'
import { networkOf } from './networks.ts'
import { parseRollupConfig, toRollupJson } from './rollupConfig.ts'

const address = `0x${'0b'.repeat(20)}`
const slot = parseHash(`0x${'00'.repeat(31)}05`)
const messagePasserStorageRoot = parseHash('0x8ed4baae3a927be3dea54996b4d5899f8c01e7594bf50b17dc1e741388ce3d12')

const forkTimes = {
  regolithTime: 0,
  canyonTime: 1_795_254_957,
  ecotoneTime: 1_795_254_959,
  shanghaiTime: 1_795_254_957,
  cancunTime: 1_795_254_959,
}
/** Jovian with all earlier forks, and Azul. */
const azulAt = (azul: number) => ({ jovianTime: 1_795_255_000, pragueTime: 1_795_255_000, base: { azul } })
const optimism = { eip1559Elasticity: 6, eip1559Denominator: 50, eip1559DenominatorCanyon: 250 }
const geth = {
  config: { chainId: 90_002, londonBlock: 0, bedrockBlock: 0, terminalTotalDifficulty: 0, ...forkTimes, optimism },
  nonce: '0x0',
  timestamp: '0x6b016aad',
  extraData: '0x616c6c20796f75722062617365206172652062656c6f6e6720746f20796f752e',
  gasLimit: '0x1c9c380',
  difficulty: '0x0',
  mixHash: `0x${'00'.repeat(32)}`,
  coinbase: '0x4200000000000000000000000000000000000011',
  alloc: {
    [address]: { balance: '0x10', nonce: '7', code: '0x6001', storage: { '0x05': '0x0a', '0x06': '0x00' } },
    [address.slice(2).replace('0b', '0c')]: { balance: '1000000000000000000' },
  },
  number: '0x0',
  gasUsed: '0x0',
  parentHash: `0x${'00'.repeat(32)}`,
  baseFeePerGas: '0x3b9aca00',
}
const rollup = {
  ...toRollupJson(networkOf('base').config),
  base: null,
  genesis: {
    l1: { hash: slot, number: 3 },
    l2: { hash: '0x0cbc4bbba884a9d904c6acc95c58d9b8607b0a2b2cce9a53c7276b251f68710c', number: 0 },
    l2_time: 1_795_254_957,
    system_config: { batcherAddr: address, overhead: slot, scalar: slot, gasLimit: 30_000_000 },
  },
  l1_chain_id: 900,
  l2_chain_id: 90_002,
  regolith_time: 0,
  canyon_time: 1_795_254_957,
  delta_time: 1_795_254_957,
  ecotone_time: 1_795_254_959,
  fjord_time: null,
  granite_time: null,
  holocene_time: null,
  isthmus_time: null,
  jovian_time: null,
}
const recordedRoot = parseHash('0xd72bae4b272d1e399c9f832af2bd63bd1e1c029bbf020c46564bf0f8accb1250')

describe('chainspec/genesis', () => {
  it.each([
    ['base', '0xb2afcb88cd1d0ab228f0415d99b0fb90a18e8515daf5eb31f55b5c4697e18328', 2_064],
    ['base-sepolia', '0x907f339ca16b3e45a89a7f4cc29d4430c8d4178d73b370ec9180e04a0dd7fcf3', 2_322],
  ] as const)('the genesis block of %s has the hash of the real chain', (name, stateRoot, count) => {
    const { config, genesis } = networkOf(name)
    const { header, accounts } = genesis()
    expect(accounts).toHaveLength(count)
    const roots = { stateRoot: parseHash(stateRoot), messagePasserStorageRoot }
    expect(hashHeader(genesisHeader({ header, accounts }, config.schedule, roots))).toBe(config.genesis.l2.hash)
  })

  it("geth's genesis with Canyon at genesis has the same hash as in other clients", () => {
    const { genesis, warnings } = parseGethGenesis(geth)
    const config = agreeWithGenesis(parseRollupConfig(rollup), genesis)
    expect(warnings).toEqual([])
    verifyGenesisHash(config, genesisHeader(genesis, config.schedule, { stateRoot: recordedRoot, messagePasserStorageRoot }))
    expect(genesis.accounts[0]).toEqual({
      address,
      balance: 16n,
      nonce: 7n,
      code: Buffer.from('6001', 'hex'),
      storage: new Map([[slot, 10n]]),
    })
    expect(genesis.accounts[1]?.balance).toBe(10n ** 18n)
  })

  it('rejects another header (WRONG_GENESIS)', () => {
    const { genesis } = parseGethGenesis({ ...geth, gasLimit: 1 })
    const { config } = parseRollupConfig(rollup)
    const header = genesisHeader(genesis, config.schedule, { stateRoot: recordedRoot, messagePasserStorageRoot })
    expect(() => verifyGenesisHash(config, header)).toThrow(expect.objectContaining({ code: 'WRONG_GENESIS' }))
  })

  it("with Isthmus at genesis the header has the message passer's storage root and the empty requests hash", () => {
    const { genesis } = parseGethGenesis(geth)
    const roots = { stateRoot: recordedRoot, messagePasserStorageRoot }
    expect(genesisHeader(genesis, { canyon: 0, ecotone: 0, isthmus: 0 }, roots)).toMatchObject({
      withdrawalsRoot: messagePasserStorageRoot,
      requestsHash: emptyRequestsHash,
      blobGasUsed: 0n,
      excessBlobGas: 0n,
    })
    expect(genesisHeader(genesis, { canyon: 0 }, roots).withdrawalsRoot).toBe(emptyRoot)
    expect(genesisHeader(genesis, {}, roots).withdrawalsRoot).toBeUndefined()
  })

  it('reads Azul under `base`, also when `osakaTime` is present', () => {
    const { genesis } = parseGethGenesis({ ...geth, config: { ...geth.config, ...azulAt(1_795_255_010), osakaTime: 1_795_255_010 } })
    expect(genesis.chain?.schedule).toMatchObject({ isthmus: 1_795_255_000, jovian: 1_795_255_000, azul: 1_795_255_010 })
    const times = { isthmus_time: 1_795_255_000, jovian_time: 1_795_255_000, fjord_time: 1_795_255_000 }
    const other = { ...rollup, ...times, granite_time: 1_795_255_000, holocene_time: 1_795_255_000, base: { azul: 1_795_255_011 } }
    expect(() => agreeWithGenesis(parseRollupConfig(other), genesis)).toThrow(/config.base.azul is 1795255010/)
  })

  it("takes the admin of the activation registry from the genesis, as Base's client does, and refuses another one in the rollup config", () => {
    const admin = parseAddress(`0x${'ad'.repeat(20)}`)
    const config = { ...geth.config, ...azulAt(1_795_255_010), fjordTime: 1_795_255_000, graniteTime: 1_795_255_000 }
    const file = { ...geth, config: { ...config, holoceneTime: 1_795_255_000, isthmusTime: 1_795_255_000, activationAdminAddress: admin } }
    const { genesis, warnings } = parseGethGenesis(file)
    expect(warnings).toEqual([])
    const times = { isthmus_time: 1_795_255_000, jovian_time: 1_795_255_000, fjord_time: 1_795_255_000 }
    const planned = { ...rollup, ...times, granite_time: 1_795_255_000, holocene_time: 1_795_255_000 }
    const of = (base: object) => parseRollupConfig({ ...planned, base: { azul: 1_795_255_010, ...base } })
    expect(agreeWithGenesis(of({}), genesis).schedule.activationAdmin).toBe(admin)
    expect(agreeWithGenesis(of({ activation_admin: admin }), genesis).schedule.activationAdmin).toBe(admin)
    expect(() => agreeWithGenesis(of({ activation_admin: address }), genesis)).toThrow(/config.activationAdminAddress/)
  })

  it('ignores unknown keys and names them in the warnings', () => {
    const { warnings } = parseGethGenesis({ ...geth, motd: 'hello', config: { ...geth.config, clique: {} } })
    expect(warnings.join()).toMatch(/config\.clique .*motd |motd .*config\.clique /)
  })

  it.each([
    ['config.chainId', { ...geth, config: { ...geth.config, chainId: '90002' } }],
    ['config.optimism', { ...geth, config: { ...geth.config, optimism: undefined } }],
    ['config.cancunTime', { ...geth, config: { ...geth.config, cancunTime: 5 } }],
    ['config.londonBlock', { ...geth, config: { ...geth.config, londonBlock: 5 } }],
    ['config.osakaTime', { ...geth, config: { ...geth.config, ...azulAt(1_795_255_000), osakaTime: 1_795_255_001 } }],
    ['config.jovianTime', { ...geth, config: { ...geth.config, ...azulAt(1_795_254_999) } }],
    ['config.jovianTime', { ...geth, config: { ...geth.config, base: { azul: 1_795_255_000 } } }],
    ['config.base.v1', { ...geth, config: { ...geth.config, base: { v1: 1_795_255_000 } } }],
    ['config.amsterdamTime', { ...geth, config: { ...geth.config, amsterdamTime: 5 } }],
    ['gasLimit', { ...geth, gasLimit: 'much' }],
    ['timestamp', { ...geth, timestamp: undefined }],
    [`alloc.${address}.balance`, { ...geth, alloc: { [address]: { balance: '0xzz' } } }],
    ['stateHash', { ...geth, stateHash: slot }],
  ])('names a bad value of %s (INVALID_CONFIG)', (key, bad) => {
    expect(() => parseGethGenesis(bad)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', data: expect.objectContaining({ key }) }))
  })

  it.each([
    ['timestamp', {}, { timestamp: 5 }],
    ['config.chainId', { l2_chain_id: 90_003 }, {}],
    ['config.ecotoneTime', { ecotone_time: 1_795_254_961 }, {}],
    ['config.fjordTime', { fjord_time: 1_795_254_961 }, {}],
    ['config.optimism (elasticity)', { chain_op_config: { ...optimism, eip1559Elasticity: 10 } }, {}],
  ])('names a contradiction with the rollup config: %s (INVALID_CONFIG)', (key, ofRollup, ofGenesis) => {
    const { genesis } = parseGethGenesis({ ...geth, ...ofGenesis })
    expect(() => agreeWithGenesis(parseRollupConfig({ ...rollup, ...ofRollup }), genesis)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', data: expect.objectContaining({ key }) }),
    )
  })

  it('takes the base-fee parameters from the genesis file when rollup.json has none', () => {
    const { genesis } = parseGethGenesis({ ...geth, config: { ...geth.config, optimism: { ...optimism, eip1559Elasticity: 10 } } })
    const { chain_op_config, ...without } = { chain_op_config: null, ...rollup }
    expect(agreeWithGenesis(parseRollupConfig({ ...without, chain_op_config: null }), genesis).eip1559.elasticity).toBe(10)
  })

  it('the compact form rejects a reference to a missing code (INVALID_CONFIG)', () => {
    const { config, alloc, ...header } = geth
    expect(() => parseCompactGenesis({ header, codes: [], accounts: [{ address, code: 0 }] })).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG' }),
    )
  })
})
