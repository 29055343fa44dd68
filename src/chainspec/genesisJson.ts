import { z } from 'zod'
import { bytesFromBigint } from '#lib/bytes'
import { type Address, hashFromBytes, parseAddress, zeroHash } from '#types/ids'
import { address, bytes, count, hash, optionalCount, parseConfig, quantity, smallQuantity } from './configJson.ts'
import { eip1559From, eip1559Schema } from './eip1559Config.ts'
import { chainFault } from './faults.ts'
import type { Fork } from './forks.ts'
import {
  type Genesis,
  type GenesisAccount,
  type GenesisChain,
  type GenesisHeaderFields,
  genesisAccount,
  genesisForkKey,
} from './genesis.ts'
import { scheduleOf } from './scheduleConfig.ts'

const what = 'genesis'

/** A storage slot or value, with or without leading zeros. */
const shortWord = z.string().regex(/^0x[0-9a-fA-F]{0,64}$/, { error: 'up to 32 bytes (0x and hex digits)' })
const wordValue = shortWord.transform((text) => BigInt(text === '0x' ? 0 : text))
const storage = z
  .record(shortWord, wordValue)
  .transform((slots) => Object.entries(slots).map(([slot, value]) => [hashFromBytes(bytesFromBigint(BigInt(slot), 32)), value] as const))

/** Header fields in a genesis file. */
export const headerShape = {
  number: smallQuantity.optional(),
  timestamp: smallQuantity,
  gasLimit: quantity,
  gasUsed: quantity.optional(),
  difficulty: quantity.optional(),
  mixHash: hash.optional(),
  mixhash: hash.optional(),
  coinbase: address.optional(),
  extraData: bytes.optional(),
  parentHash: hash.optional(),
  baseFeePerGas: quantity.nullish(),
  nonce: quantity.refine((value) => value >> 64n === 0n, { error: 'at most 8 bytes' }).optional(),
  blobGasUsed: quantity.nullish(),
  excessBlobGas: quantity.nullish(),
}
const headerSchema = z.strictObject(headerShape)

/** Default base fee in wei per gas when a file has none: that of London's first block. */
const initialBaseFee = 1_000_000_000n

/** Returns the header fields of a genesis file, with defaults for absent fields. */
export function headerFields(json: z.output<typeof headerSchema>): GenesisHeaderFields {
  return {
    number: json.number ?? 0,
    parentHash: json.parentHash ?? zeroHash,
    beneficiary: json.coinbase ?? parseAddress(`0x${'00'.repeat(20)}`),
    difficulty: json.difficulty ?? 0n,
    gasLimit: json.gasLimit,
    gasUsed: json.gasUsed ?? 0n,
    timestamp: json.timestamp,
    extraData: json.extraData ?? new Uint8Array(),
    mixHash: json.mixHash ?? json.mixhash ?? zeroHash,
    nonce: bytesFromBigint(json.nonce ?? 0n, 8),
    baseFeePerGas: json.baseFeePerGas ?? initialBaseFee,
    ...(json.blobGasUsed != null && { blobGasUsed: json.blobGasUsed }),
    ...(json.excessBlobGas != null && { excessBlobGas: json.excessBlobGas }),
  }
}

const compactSchema = z.strictObject({
  expected: z.strictObject({ hash, stateRoot: hash }).optional(),
  header: headerSchema,
  codes: z.array(bytes),
  accounts: z.array(
    z.strictObject({
      address,
      balance: quantity.optional(),
      nonce: quantity.optional(),
      code: count.optional(),
      storage: storage.optional(),
    }),
  ),
})

/**
 * Parses the compact form, which lists each code once; accounts refer to codes by index.
 * @throws Fault INVALID_CONFIG (fatal)
 */
export function parseCompactGenesis(json: unknown): Genesis {
  const { value } = parseConfig(compactSchema, json, what)
  const accounts = value.accounts.map(({ address: of, code, ...rest }, i): GenesisAccount => {
    const found = code === undefined ? undefined : value.codes[code]
    if (code !== undefined && found === undefined) {
      throw chainFault('INVALID_CONFIG', { what, key: `accounts.${i}.code`, expected: `below ${value.codes.length}`, found: String(code) })
    }
    return genesisAccount(of, { ...defined(rest), ...(found && { code: found }) })
  })
  return { header: headerFields(value.header), accounts }
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }
/** Returns the object without its undefined fields. */
function defined<T extends object>(fields: T): Partial<Defined<T>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Defined<T>>
}

/** Keys of Ethereum's forks with a block number. All precede Bedrock and must be active at genesis. */
export const ethereumBlockKeys = [
  'homesteadBlock',
  'eip150Block',
  'eip155Block',
  'eip158Block',
  'byzantiumBlock',
  'constantinopleBlock',
  'petersburgBlock',
  'istanbulBlock',
  'muirGlacierBlock',
  'berlinBlock',
  'londonBlock',
  'arrowGlacierBlock',
  'grayGlacierBlock',
  'mergeNetsplitBlock',
] as const
const atGenesis = z.literal(0, { error: '0: Bedrock begins at genesis' }).nullish()

const chainSchema = z.strictObject({
  chainId: z.int().positive(),
  ...Object.fromEntries([...ethereumBlockKeys, 'bedrockBlock'].map((key) => [key, atGenesis])),
  terminalTotalDifficulty: quantity.nullish(),
  terminalTotalDifficultyPassed: z.boolean().optional(),
  regolithTime: optionalCount,
  canyonTime: optionalCount,
  deltaTime: optionalCount,
  ecotoneTime: optionalCount,
  fjordTime: optionalCount,
  graniteTime: optionalCount,
  holoceneTime: optionalCount,
  isthmusTime: optionalCount,
  jovianTime: optionalCount,
  shanghaiTime: optionalCount,
  cancunTime: optionalCount,
  pragueTime: optionalCount,
  osakaTime: optionalCount,
  base: z.strictObject({ azul: optionalCount, beryl: optionalCount, cobalt: optionalCount, denim: optionalCount }).nullish(),
  activationAdminAddress: address.nullish(),
  optimism: eip1559Schema,
})

/** Upgrades of Ethereum and the OP Stack upgrades that activate them at the same time. */
const pairs = [
  ['shanghaiTime', 'canyon'],
  ['cancunTime', 'ecotone'],
  ['pragueTime', 'isthmus'],
  ['osakaTime', 'azul'],
] as const
const timedForks = ['regolith', 'canyon', 'delta', 'ecotone', 'fjord', 'granite', 'holocene', 'isthmus', 'jovian'] as const

function chainOf(json: z.output<typeof chainSchema>): { chain: GenesisChain; warnings: readonly string[] } {
  const times: Partial<Record<Fork, number | null | undefined>> = { ...json.base }
  for (const fork of timedForks) times[fork] = json[`${fork}Time`]
  // A genesis file need not have Delta, because execution clients do not know it.
  times.delta ??= times.ecotone
  const { schedule, warnings } = scheduleOf(times, what, genesisForkKey)
  for (const [key, fork] of pairs) {
    const found = json[key]
    if (found == null || found === schedule[fork]) continue
    const expected = `${schedule[fork] ?? 'absent'}, the time of ${fork}`
    throw chainFault('INVALID_CONFIG', { what, key: `config.${key}`, expected, found: String(found) })
  }
  const eip1559 = eip1559From(json.optimism, schedule, what, 'config.optimism')
  const activationAdmin = json.activationAdminAddress
  return { chain: { chainId: json.chainId, schedule: activationAdmin ? { ...schedule, activationAdmin } : schedule, eip1559 }, warnings }
}

const addressKey = z.string().regex(/^(?:0x)?[0-9a-fA-F]{40}$/, { error: 'an address' })
/** The accounts of geth's genesis.json. */
export const allocSchema = z
  .record(
    addressKey,
    z.strictObject({ balance: quantity.optional(), nonce: quantity.optional(), code: bytes.optional(), storage: storage.optional() }),
  )
  .transform((alloc): readonly GenesisAccount[] =>
    Object.entries(alloc).map(([key, fields]) => genesisAccount(addressFromKey(key), defined(fields))),
  )
const gethSchema = z.strictObject({
  ...headerShape,
  config: chainSchema,
  alloc: allocSchema,
  stateHash: hash.nullish(),
})

const addressFromKey = (key: string): Address => parseAddress(key.startsWith('0x') ? key : `0x${key}`)

export type ParsedGenesis = { readonly genesis: Genesis; readonly warnings: readonly string[] }

/**
 * Parses geth's genesis.json (`config`, `alloc` and header fields). The warnings name unknown keys.
 * @throws Fault INVALID_CONFIG (fatal) that names the key and the expected value
 */
export function parseGethGenesis(json: unknown): ParsedGenesis {
  const { value, warnings } = parseConfig(gethSchema, json, what)
  const { config, alloc, stateHash, ...header } = value
  if (stateHash) {
    throw chainFault('INVALID_CONFIG', { what, key: 'stateHash', expected: 'absent: the accounts must be listed', found: stateHash })
  }
  const { chain, warnings: ofForks } = chainOf(config)
  return { genesis: { header: headerFields(header), accounts: alloc, chain }, warnings: [...warnings, ...ofForks] }
}
