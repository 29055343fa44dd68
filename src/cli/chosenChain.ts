import { isBaseGenesisNote, parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { agreeWithGenesis, type Genesis } from '#chainspec/genesis'
import { type ParsedGenesis, parseGethGenesis } from '#chainspec/genesisJson'
import { networkNames } from '#chainspec/networkNames'
import { networkOf } from '#chainspec/networks'
import { parseRollupConfig, type RollupConfig } from '#chainspec/rollupConfig'
import { cliFault } from './faults.ts'
import { readJsonFile } from './files.ts'
import { type FlagValues, flags } from './flags.ts'

export type ChosenChain = {
  readonly name: string
  readonly config: RollupConfig
  readonly genesis: Genesis
  /** one for each entry of the files that is not understood */
  readonly warnings: readonly string[]
}

/**
 * Returns the chain of --network, or of --rollup.config with --genesis.
 * @throws Fault CONFLICTING_FLAGS, MISSING_FLAG, UNREADABLE_FILE, BAD_FILE, INVALID_CONFIG (all fatal)
 */
export function chooseChain(given: FlagValues<'network' | 'rollup.config' | 'genesis'>): ChosenChain {
  const { network, 'rollup.config': rollupPath, genesis: genesisPath } = given
  if (network !== undefined) {
    if (rollupPath !== undefined || genesisPath !== undefined) {
      throw cliFault('CONFLICTING_FLAGS', {
        flags: ['network', 'rollup.config', 'genesis'],
        rule: 'a built-in chain has its own config and genesis',
      })
    }
    const known = networkOf(network)
    return { name: network, config: known.config, genesis: known.genesis(), warnings: [] }
  }
  if (rollupPath === undefined && genesisPath === undefined)
    throw missing('network', `${networkNames.join(' or ')}; for a custom chain give --rollup.config FILE and --genesis FILE instead`)
  if (rollupPath === undefined) throw missing('rollup.config')
  if (genesisPath === undefined) throw missing('genesis')
  const rollup = parseRollupConfig(readJsonFile(rollupPath))
  const genesis = readGenesisFile(genesisPath)
  const config = agreeWithGenesis(rollup, genesis.genesis)
  return { name: `chain ${config.l2ChainId}`, config, genesis: genesis.genesis, warnings: [...rollup.warnings, ...genesis.warnings] }
}

/**
 * Reads a genesis file, in geth's format or as the difference from Base's.
 * @throws Fault UNREADABLE_FILE, BAD_FILE, INVALID_CONFIG (fatal)
 */
export function readGenesisFile(path: string): ParsedGenesis {
  const json = readJsonFile(path)
  return isBaseGenesisNote(json) ? parseBaseGenesisNote(json) : parseGethGenesis(json)
}

const missing = (flag: 'network' | 'rollup.config' | 'genesis', doc: string = flags[flag].doc): Error =>
  cliFault('MISSING_FLAG', { flag, variable: flags[flag].env, doc })
