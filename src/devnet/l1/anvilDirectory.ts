import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { devnetFault } from '../faults.ts'
import type { L1Contract } from '../l1Contracts.ts'

/** What anvil writes, and loads when it is there. */
export const stateFile = 'anvil-state.json'
/** anvil makes a folder in it at the first reorg, and leaves it there. */
export const scratchFolder = 'scratch'
/** What anvil does not write: what the chain was made with. */
const chainFile = 'chain.json'

/** What a chain cannot change: anvil would go on with another one and say nothing. */
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
    throw devnetFault('DEVNET_L1_STATE', { path, reason: 'it cannot be read' }, error)
  }
}

/**
 * Holds a directory with a chain against what is asked for, or marks an empty one.
 * @returns the time of genesis: of the chain that is there, else the one that is asked for
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
    const reason = key === 'contracts' ? 'its contracts are others' : `its ${key} is ${kept[key]}, not ${value}`
    throw devnetFault('DEVNET_L1_STATE', { path, reason })
  }
  if (typeof genesisTimeSec !== 'number') throw devnetFault('DEVNET_L1_STATE', { path, reason: 'it has no time of genesis' })
  return genesisTimeSec
}
