import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { errorMessage, isFault } from '#lib/fault'
import { parseAddress } from '#types/ids'
import { type DevnetChain, type DevnetChainFiles, type DevnetChainOptions, parseChainFiles, toChainFiles } from './devnetChain.ts'
import { devnetFault } from './faults.ts'
import { type DevnetFork, devnetForks } from './forkSchedule.ts'

/** Options fixed when a devnet is created. */
export type FixedOptions = DevnetChainOptions & { readonly l1: 'anvil' | 'memory'; readonly slotSec: number }

/** Devnet stored in a directory. `chain` is absent until its L1 has started. */
export type KeptDevnet = { readonly options: FixedOptions; readonly genesisTimeSec: number; readonly chain: DevnetChain | undefined }

export const partFolders = { l1: 'l1', sequencer: 'sequencer', verifier: 'verifier', batcher: 'batcher' } as const
export const devnetFile = 'devnet.json'

const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/)
  .transform(parseAddress)
const offset = z.int().nonnegative().exactOptional()
const schema = z.strictObject({
  version: z.literal(1),
  options: z.strictObject({
    chainId: z.int().positive(),
    l1ChainId: z.int().positive(),
    blockTimeSec: z.int().positive(),
    slotSec: z.int().positive(),
    l1: z.enum(['anvil', 'memory']),
    forks: z.strictObject(Object.fromEntries(devnetForks.map((fork) => [fork, offset])) as Record<DevnetFork, typeof offset>),
    accounts: z.array(address).min(1),
    batcher: address,
    activationAdmin: address.exactOptional(),
  }),
  genesisTimeSec: z.int().nonnegative(),
  chain: z.strictObject({ rollup: z.unknown(), genesis: z.unknown() }).optional(),
})

function readFile(path: string): KeptDevnet {
  try {
    const parsed = schema.parse(JSON.parse(readFileSync(path, 'utf8')))
    const chain = parsed.chain && parseChainFiles(parsed.chain as DevnetChainFiles)
    return { options: parsed.options, genesisTimeSec: parsed.genesisTimeSec, chain }
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error).replaceAll(/\s+/g, ' ').slice(0, 200) : errorMessage(error)
    throw devnetFault('DEVNET_FILE_BAD', { path, reason }, isFault(error) ? error : undefined)
  }
}

/**
 * Reads the devnet of a directory; undefined when there is none. Removes a devnet whose first start did not complete.
 * @throws Fault DEVNET_FILE_BAD (fatal): the file is damaged, or folders of a devnet exist without it
 */
export function readDevnet(datadir: string): KeptDevnet | undefined {
  const path = join(datadir, devnetFile)
  const folders = Object.values(partFolders).map((name) => join(datadir, name))
  if (!existsSync(path)) {
    const strange = folders.find((folder) => existsSync(folder))
    if (strange !== undefined)
      throw devnetFault('DEVNET_FILE_BAD', { path, reason: `the file is missing, and the directory is not empty: ${strange} exists` })
    return undefined
  }
  const kept = readFile(path)
  if (kept.chain !== undefined) return kept
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  rmSync(path)
  return undefined
}

/** Writes the file atomically. @throws Error of the file system */
export function writeDevnet(datadir: string, { options, genesisTimeSec, chain }: KeptDevnet): void {
  mkdirSync(datadir, { recursive: true, mode: 0o700 })
  const path = join(datadir, devnetFile)
  const json = { version: 1, options, genesisTimeSec, ...(chain && { chain: toChainFiles(chain) }) }
  writeFileSync(`${path}.new`, `${JSON.stringify(json)}\n`)
  renameSync(`${path}.new`, path)
}

/** Flag of each option, in the order of messages. */
const flagOf: Readonly<Record<keyof FixedOptions, string>> = {
  l1: '--l1',
  chainId: '--chain-id',
  l1ChainId: 'the chain id of L1',
  blockTimeSec: '--block-time',
  slotSec: '--l1-block-time',
  forks: '--fork',
  accounts: '--accounts or --mnemonic',
  batcher: '--mnemonic',
  activationAdmin: '--mnemonic',
}

const shown = (value: FixedOptions[keyof FixedOptions]): string =>
  Array.isArray(value) ? `${value.length} from ${value[0]}` : typeof value === 'object' ? JSON.stringify(value) : String(value)

/**
 * Compares the options of a stored devnet with the requested ones. Options that are not requested are not compared.
 * @throws Fault OTHER_OPTIONS (fatal) that names each different option
 */
export function agreeWithKept(datadir: string, kept: FixedOptions, asked: Partial<FixedOptions>): void {
  const options = (Object.keys(flagOf) as (keyof FixedOptions)[]).flatMap((name) => {
    const wanted = asked[name]
    const isSame = wanted === undefined || JSON.stringify(wanted) === JSON.stringify(kept[name])
    return isSame ? [] : [`${flagOf[name]} is ${shown(kept[name])} there, not ${shown(wanted)}`]
  })
  if (options.length > 0) throw devnetFault('OTHER_OPTIONS', { datadir, options })
}
