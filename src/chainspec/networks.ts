import { type Address, parseAddress, zeroAddress } from '#types/ids'
import { readDataJson } from './dataFile.ts'
import type { Genesis } from './genesis.ts'
import { parseCompactGenesis } from './genesisJson.ts'
import { type NetworkName, networkChainIds } from './networkNames.ts'
import { parseRollupConfig, type RollupConfig } from './rollupConfig.ts'

/** A built-in chain, selected by name. */
export type Network = {
  readonly name: NetworkName
  readonly config: RollupConfig
  /** Reads the genesis accounts from disk on each call. */
  readonly genesis: () => Genesis
}

const word = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`
const common = {
  block_time: 2,
  max_sequencer_drift: 600,
  seq_window_size: 3_600,
  channel_timeout: 300,
  granite_channel_timeout: 50,
}

const base = {
  genesis: {
    l1: { number: 17_481_768, hash: '0x5c13d307623a926cd31415036c8b7fa14572f9dac64528e857a470511fc30771' },
    l2: { number: 0, hash: '0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd' },
    l2_time: 1_686_789_347,
    system_config: {
      batcherAddr: '0x5050f69a9786f081509234f1a7f4684b5e5b76c9',
      overhead: word(188),
      scalar: word(684_000),
      gasLimit: 30_000_000,
    },
  },
  ...common,
  l1_chain_id: 1,
  l2_chain_id: networkChainIds.base,
  regolith_time: 0,
  canyon_time: 1_704_992_401,
  delta_time: 1_708_560_000,
  ecotone_time: 1_710_374_401,
  fjord_time: 1_720_627_201,
  granite_time: 1_726_070_401,
  holocene_time: 1_736_445_601,
  isthmus_time: 1_746_806_401,
  jovian_time: 1_764_691_201,
  base: {
    ...{ azul: 1_779_991_200, beryl: 1_782_410_400, cobalt: 1_790_791_200, denim: 1_793_901_600 },
    activation_admin: '0xce3a3bee7e72e2a24079f3c0cb3b97740ed425a9',
  },
  batch_inbox_address: '0xff00000000000000000000000000000000008453',
  deposit_contract_address: '0x49048044d57e1c92a77f79988d21fa8faf74e97e',
  l1_system_config_address: '0x73a79fab69143498ed3712e519a88a918e1f4072',
  protocol_versions_address: '0x8062abc286f5e7d9428a0ccb9abd71e50d93b935',
  chain_op_config: { eip1559Elasticity: 6, eip1559Denominator: 50, eip1559DenominatorCanyon: 250 },
}

const baseSepolia = {
  genesis: {
    l1: { number: 4_370_868, hash: '0xcac9a83291d4dec146d6f7f69ab2304f23f5be87b1789119a0c5b1e4482444ed' },
    l2: { number: 0, hash: '0x0dcc9e089e30b90ddfc55be9a37dd15bc551aeee999d2e2b51414c54eaf934e4' },
    l2_time: 1_695_768_288,
    system_config: {
      batcherAddr: '0x6cdebe940bc0f26850285caca097c11c33103e47',
      overhead: word(2_100),
      scalar: word(1_000_000),
      gasLimit: 25_000_000,
    },
  },
  ...common,
  l1_chain_id: 11_155_111,
  l2_chain_id: networkChainIds['base-sepolia'],
  regolith_time: 0,
  canyon_time: 1_699_981_200,
  delta_time: 1_703_203_200,
  ecotone_time: 1_708_534_800,
  fjord_time: 1_716_998_400,
  granite_time: 1_723_478_400,
  holocene_time: 1_732_633_200,
  pectra_blob_schedule_time: 1_742_486_400,
  isthmus_time: 1_744_905_600,
  jovian_time: 1_763_568_001,
  base: {
    ...{ azul: 1_776_708_000, beryl: 1_781_805_600, cobalt: 1_790_186_400, denim: 1_792_605_600 },
    activation_admin: '0x5f43072722f59964d886cbb507f6a85ca0759d42',
  },
  batch_inbox_address: '0xff00000000000000000000000000000000084532',
  deposit_contract_address: '0x49f53e41452c74589e85ca1677426ba426459e85',
  l1_system_config_address: '0xf272670eb55e895584501d564afeb048bed26194',
  protocol_versions_address: '0x79add5713b383daa0a138d3c4780c7a1804a8090',
  chain_op_config: { eip1559Elasticity: 10, eip1559Denominator: 50, eip1559DenominatorCanyon: 250 },
}

const networks: Readonly<Record<NetworkName, { readonly rollup: unknown; readonly genesisFile: string }>> = {
  base: { rollup: base, genesisFile: 'base.genesis.json.zst' },
  'base-sepolia': { rollup: baseSepolia, genesisFile: 'baseSepolia.genesis.json.zst' },
}

/** Returns the parameters of a built-in chain, with the fork times up to Denim. */
export function networkOf(name: NetworkName): Network {
  const { rollup, genesisFile } = networks[name]
  return { name, config: parseRollupConfig(rollup).config, genesis: () => parseCompactGenesis(readDataJson(genesisFile)) }
}

/** ProtocolVersions contract of a built-in chain, by chain id. The address for Base Sepolia is not published in any source read. */
const forkScheduleContracts: Readonly<Record<number, Address | undefined>> = {
  [base.l2_chain_id]: parseAddress('0x7480afc8d99a5c645c247db5a1e4a4f440e6e095'),
  [baseSepolia.l2_chain_id]: undefined,
}

/**
 * Returns the L1 contract that publishes the fork times of a chain; undefined: none is known. Of a built-in chain it is a constant, because
 * `protocol_versions_address` in its rollup config is an older contract without a schedule. Of another chain it is `protocol_versions_address`.
 */
export function forkScheduleContractOf({ l2ChainId, protocolVersions }: RollupConfig): Address | undefined {
  if (l2ChainId in forkScheduleContracts) return forkScheduleContracts[l2ChainId]
  return protocolVersions === zeroAddress ? undefined : protocolVersions
}

/** L1 contracts of the proposals that vouch for output roots, and the type of their games. */
export type ProposalContracts = { readonly factory: Address; readonly anchorStateRegistry: Address; readonly gameType: number }

/** DisputeGameFactory and AnchorStateRegistry of a built-in chain, by chain id; proxies, so they outlive their implementations. */
const proposalContracts: Readonly<Record<number, ProposalContracts>> = {
  [base.l2_chain_id]: {
    factory: parseAddress('0x43edb88c4b80fdd2adff2412a7bebf9df42cb40e'),
    anchorStateRegistry: parseAddress('0x909f6cf47ed12f010a796527f562bfc26c7f4e72'),
    gameType: 621,
  },
  [baseSepolia.l2_chain_id]: {
    factory: parseAddress('0xd6e6dbf4f7ea0ac412fd8b65ed297e64bb7a06e1'),
    anchorStateRegistry: parseAddress('0x2ff5cc82dbf333ea30d8ee462178ab1707315355'),
    gameType: 621,
  },
}

/** Returns the contracts of the proposals of a chain; undefined: none are known. */
export const proposalContractsOf = ({ l2ChainId }: RollupConfig): ProposalContracts | undefined => proposalContracts[l2ChainId]
