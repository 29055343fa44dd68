import { concatHex, type Hex, keccak256, numberToHex, pad, toRlp } from 'viem'
import type { Block, Log, Tx } from './reader.ts'

/** Forks in order; Bedrock with Regolith is active before the first. */
export const forkNames = [
  'canyon',
  'delta',
  'ecotone',
  'fjord',
  'granite',
  'holocene',
  'isthmus',
  'jovian',
  'azul',
  'beryl',
  'cobalt',
  'denim',
] as const
export type Fork = (typeof forkNames)[number]
/** Forks that the node's config has in a separate object. */
type BaseFork = 'azul' | 'beryl' | 'cobalt' | 'denim'

/** The part of op-node's rollup.json that the tests use. */
export type Rollup = {
  readonly genesis: {
    readonly l1: { readonly number: number }
    readonly l2_time: number
    readonly system_config: {
      readonly batcherAddr: Hex
      readonly overhead: Hex
      readonly scalar: Hex
      readonly gasLimit: number
      readonly minBaseFee?: number
      readonly daFootprintGasScalar?: number
      readonly eip1559Params?: Hex
    }
  }
  readonly block_time: number
  readonly batch_inbox_address: Hex
  readonly l1_system_config_address: Hex
  readonly deposit_contract_address: Hex
  readonly l2_chain_id: number
} & Readonly<Record<`${Fork}_time`, number>>

/** The system config of L1. */
export type Config = {
  readonly batcher: Hex
  readonly overhead: bigint
  readonly scalar: bigint
  readonly gasLimit: bigint
  readonly denominator: number
  readonly elasticity: number
  readonly operatorFeeScalar: number
  readonly operatorFeeConstant: bigint
  readonly minBaseFee: bigint
  readonly daFootprintGasScalar: number
  /** L1 block of the last update of the gas limit, and of the EIP-1559 parameters; 0: none */
  readonly gasLimitAt: number
  readonly eip1559At: number
}

/**
 * Returns the config until L1 changes it. Blocks carry it on: a parameter that block 1 cannot encode, because its fork is not active yet, is zero
 * afterwards, as in op-node, which reads a block's system config from its parent.
 */
export const configOfGenesis = ({
  genesis: { system_config: given, l2_time: time },
  block_time: step,
  jovian_time: jovian,
}: Rollup): Config => ({
  batcher: given.batcherAddr,
  overhead: BigInt(given.overhead),
  scalar: BigInt(given.scalar),
  gasLimit: BigInt(given.gasLimit),
  denominator: 0,
  elasticity: 0,
  operatorFeeScalar: 0,
  operatorFeeConstant: 0n,
  minBaseFee: jovian <= time + step ? BigInt(given.minBaseFee ?? 0) : 0n,
  daFootprintGasScalar: jovian <= time + step ? (given.daFootprintGasScalar ?? 0) : 0,
  gasLimitAt: 0,
  eip1559At: 0,
})

/** Returns the config of a Denim block: the first one scales it, and later updates are absolute. @see Base's documentation, "Denim", gas scaling */
export function scaledConfig(config: Config, firstDenimOrigin: number): Config {
  const { gasLimit, gasLimitAt, denominator, eip1559At } = config
  return {
    ...config,
    gasLimit: gasLimitAt > firstDenimOrigin ? gasLimit : gasLimit / 10n,
    denominator: eip1559At > firstDenimOrigin ? denominator : denominator * 10,
  }
}

/** Returns the due time of a block in milliseconds. @see Base's documentation, "Denim", block schedule */
export function dueMs({ genesis, block_time: step, denim_time: denim }: Rollup, number: number): number {
  const firstDenim = Math.ceil((denim - genesis.l2_time) / step)
  if (number < firstDenim) return (genesis.l2_time + number * step) * 1_000
  return (genesis.l2_time + firstDenim * step) * 1_000 + (number - firstDenim) * 200
}

/** Returns the forks of the node's config, which has Base's own forks in a separate object. */
export function rollupOf(
  given: Omit<Rollup, `${BaseFork}_time`> & { readonly base?: Readonly<Partial<Record<BaseFork, number>>> },
): Rollup {
  const { azul, beryl, cobalt, denim } = given.base ?? {}
  if ([azul, beryl, cobalt, denim].includes(undefined)) throw new Error("the config lacks one of Base's forks")
  return { ...given, azul_time: azul, beryl_time: beryl, cobalt_time: cobalt, denim_time: denim } as Rollup
}

export const configUpdateTopic = '0x1d2b0bda21d56b8bd12d4f94ebacffdfb35f5e226f84b461103bb8beab6353be'
export const depositTopic = '0xb3813568d9991fc951961fcb4c784893574240a28925604d09fc577c55bb7c32'

/**
 * Applies a `ConfigUpdate(uint256 indexed version, uint8 indexed updateType, bytes data)`.
 * @see specs protocol/system-config.md, and of Ecotone, Holocene, Isthmus, Jovian
 */
export function applyUpdate(config: Config, log: Log, isEcotone: boolean, l1Number: number): Config {
  const words = (log.data.slice(2 + 128).match(/.{64}/g) ?? []).map((word) => BigInt(`0x${word}`))
  const [value = 0n, second = 0n] = words
  switch (Number(log.topics[2])) {
    case 0:
      return { ...config, batcher: numberToHex(value, { size: 20 }) }
    case 1:
      return { ...config, overhead: isEcotone ? 0n : value, scalar: second }
    case 2:
      return { ...config, gasLimit: value, gasLimitAt: l1Number }
    case 4:
      return { ...config, denominator: Number(value >> 32n), elasticity: Number(value & 0xffff_ffffn), eip1559At: l1Number }
    case 5:
      return { ...config, operatorFeeScalar: Number(value >> 64n), operatorFeeConstant: value & 0xffff_ffff_ffff_ffffn }
    case 6:
      return { ...config, minBaseFee: value }
    case 7:
      return { ...config, daFootprintGasScalar: Number(value) }
    default:
      return config
  }
}

const be = (value: bigint | number | Hex, size: number): Hex => numberToHex(BigInt(value), { size })

/** Encodes the L1 attributes of the block's first transaction, in Bedrock's form or the form of the fork that was active in the parent. */
export function l1AttributesData(
  form: 'bedrock' | 'ecotone' | 'isthmus' | 'jovian',
  l1: Block,
  sequenceNumber: number,
  config: Config,
): Hex {
  const { number, timestamp, baseFeePerGas, hash } = l1
  if (form === 'bedrock') {
    const words = [number, timestamp, baseFeePerGas, hash, sequenceNumber, config.batcher, config.overhead, config.scalar]
    return concatHex(['0x015d8eb9', ...words.map((word) => be(word, 32))])
  }
  const blobScalar = config.scalar >> 248n === 1n ? (config.scalar >> 32n) & 0xffff_ffffn : 0n
  const packed = [
    be(config.scalar & 0xffff_ffffn, 4),
    be(blobScalar, 4),
    be(sequenceNumber, 8),
    be(timestamp, 8),
    be(number, 8),
    be(baseFeePerGas, 32),
    be(blobBaseFee(l1), 32),
    hash,
    pad(config.batcher, { size: 32 }),
  ]
  const operator = [be(config.operatorFeeScalar, 4), be(config.operatorFeeConstant, 8)]
  if (form === 'ecotone') return concatHex(['0x440a5e20', ...packed])
  if (form === 'isthmus') return concatHex(['0x098999be', ...packed, ...operator])
  return concatHex(['0x3db6be2b', ...packed, ...operator, be(config.daFootprintGasScalar || 400, 2)])
}

/** Returns the blob base fee: 1 wei while blobs stay below the target, as on this L1. */
function blobBaseFee({ excessBlobGas = '0x0' }: Block): bigint {
  if (BigInt(excessBlobGas) !== 0n) throw new RangeError('more blobs on L1 than this test supports')
  return 1n
}

export const sourceHash = (domain: number, ...parts: readonly Hex[]): Hex =>
  keccak256(concatHex([be(domain, 32), keccak256(concatHex(parts))]))

/** Encodes a deposit from its JSON (EIP-2718). */
export function rawDeposit(tx: Tx): Hex {
  const scalar = (value: Hex | undefined): Hex => (value === undefined || BigInt(value) === 0n ? '0x' : numberToHex(BigInt(value)))
  const fields = [
    tx.sourceHash ?? '0x',
    tx.from,
    tx.to ?? '0x',
    scalar(tx.mint),
    scalar(tx.value),
    scalar(tx.gas),
    tx.isSystemTx ? '0x01' : '0x',
    tx.input,
  ]
  return concatHex(['0x7e', toRlp(fields as Hex[])])
}

/** Hash of a fork's concatenated upgrade transactions, as on the networks that had these forks. */
export const upgrades: Readonly<Partial<Record<Fork, { readonly count: number; readonly keccak: Hex }>>> = {
  ecotone: { count: 6, keccak: '0xec1aa4d001fc132699a0ec68aa25b5872a0be9308195745f06e9db6859ab95a3' },
  fjord: { count: 3, keccak: '0xedcf6d86f081abac7efed96df33ed2119e8385d44067a2ef6b821607f523ff24' },
  isthmus: { count: 8, keccak: '0x10c8653dea3e4a54503143c2b2a83869425eaf540ca470352ed71eba40929671' },
  jovian: { count: 5, keccak: '0xd498d96826b3d1bbb48b56346a26e018f3638bad34f723e5356396eef83cdadd' },
}

/** Returns the extra data of a block. @see specs protocol/holocene/exec-engine.md, "Encoding"; jovian/exec-engine.md */
export function extraData(form: 'none' | 'holocene' | 'jovian', { denominator, elasticity, minBaseFee }: Config): Hex {
  if (form === 'none') return '0x'
  const [d, e] = denominator === 0 ? [250, 6] : [denominator, elasticity]
  const common = [be(d, 4), be(e, 4)]
  return form === 'holocene' ? concatHex(['0x00', ...common]) : concatHex(['0x01', ...common, be(minBaseFee, 8)])
}

/** Returns the base fee by EIP-1559 with the parent's parameters. @see specs protocol/holocene/exec-engine.md, "Base Fee Computation"; jovian: minimum, DA footprint */
export function nextBaseFee(parent: Block, isCanyon: boolean): bigint {
  const { extraData: data, gasLimit, gasUsed, baseFeePerGas, blobGasUsed = '0x0' } = parent
  const [base, limit] = [BigInt(baseFeePerGas), BigInt(gasLimit)]
  const isOwn = data.length === 20 || data.length === 36 // Holocene's 9 bytes, Jovian's 17; genesis has a text in this field
  const own = isOwn ? [Number(`0x${data.slice(4, 12)}`), Number(`0x${data.slice(12, 20)}`)] : [isCanyon ? 250 : 50, 6]
  const [denominator = 1n, elasticity = 1n] = own.map(BigInt)
  const isJovian = data.length === 36
  const used = isJovian && BigInt(blobGasUsed) > BigInt(gasUsed) ? BigInt(blobGasUsed) : BigInt(gasUsed)
  const target = limit / elasticity
  const least = isJovian ? BigInt(`0x${data.slice(20)}`) : 0n
  const next = stepped(base, used, target, denominator)
  return next < least ? least : next
}

function stepped(base: bigint, used: bigint, target: bigint, denominator: bigint): bigint {
  if (used === target) return base
  if (used > target) {
    const more = (base * (used - target)) / target / denominator
    return base + (more > 1n ? more : 1n)
  }
  return base - (base * (target - used)) / target / denominator
}
