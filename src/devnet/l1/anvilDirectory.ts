import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { devnetFault } from '../faults.ts'
import type { L1Contract } from '../l1Contracts.ts'

/** File that anvil writes, and loads when it exists. */
export const stateFile = 'anvil-state.json'
/** Folder for the temporary folder that anvil creates at its first reorg and does not remove. */
export const scratchFolder = 'scratch'
/** File with the options of the chain, which anvil does not store. */
const chainFile = 'chain.json'

/** Fixed options of a chain; anvil would continue a chain with other options without an error. */
export type KeptChain = {
  readonly chainId: number
  readonly slotSec: number
  readonly genesisTimeSec: number
  readonly contracts: readonly L1Contract[]
}

const shown = ({ chainId, slotSec, contracts }: KeptChain): Readonly<Record<string, unknown>> => ({
  chainId,
  slotSec,
  contracts: contracts.map(({ address, code }) => `${address} ${toHex(keccak256(code))}`),
})

function readChain(path: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, unknown>>
  } catch (error) {
    throw devnetFault('DEVNET_L1_STATE', { path, reason: 'it is unreadable' }, error)
  }
}

/**
 * Compares a directory's chain with the requested options, or writes the options to an empty directory.
 * @returns the genesis time of the stored chain, else the requested one
 * @throws Fault DEVNET_L1_STATE (fatal)
 */
export function keptGenesisTime(datadir: string, asked: KeptChain): number {
  const path = join(datadir, chainFile)
  if (!existsSync(join(datadir, stateFile))) {
    mkdirSync(datadir, { recursive: true, mode: 0o700 })
    writeFileSync(`${path}.new`, JSON.stringify({ ...shown(asked), genesisTimeSec: asked.genesisTimeSec }))
    renameSync(`${path}.new`, path)
    return asked.genesisTimeSec
  }
  const { genesisTimeSec, ...kept } = readChain(path)
  for (const [key, value] of Object.entries(shown(asked))) {
    if (JSON.stringify(kept[key]) === JSON.stringify(value)) continue
    const reason = key === 'contracts' ? 'its contracts differ' : `its ${key} is ${kept[key]}, expected ${value}`
    throw devnetFault('DEVNET_L1_STATE', { path, reason })
  }
  if (typeof genesisTimeSec !== 'number') throw devnetFault('DEVNET_L1_STATE', { path, reason: 'its genesis time is missing' })
  return genesisTimeSec
}
