import { isFault } from '#lib/fault'
import { executeFile } from '#node/executeFile'
import type { CommandBody } from '../command.ts'
import { readJsonFile } from '../files.ts'
import type { FlagName } from '../flags.ts'
import { faultLine, printResult } from '../output.ts'
import { readFlags } from '../readFlags.ts'

const names = ['json'] as const satisfies readonly FlagName[]

/** Codes of faults that mean that the block is not the claimed block; any other fault is wrong use. */
const verdicts: readonly string[] = ['WITNESS_INVALID', 'WITNESS_INCOMPLETE', 'INVALID_BLOCK']

export const execute: CommandBody = {
  argument: { name: 'FILE', doc: 'stateless block file (JSON, or JSON.zst)' },
  flags: names,
  run(io, raw, path): Promise<number> {
    const { json } = readFlags(names, raw, io.env)
    const input = readJsonFile(path)
    const startMs = io.clock.nowMs()
    try {
      const { number, hash, expected, gasUsed, transactions } = executeFile(input)
      const ms = Math.max(1, io.clock.nowMs() - startMs)
      const isEqual = hash === expected
      printResult(io, json, { block: number, hash, expected, equal: isEqual, transactions, gasUsed: Number(gasUsed), ms })
      return Promise.resolve(isEqual ? 0 : 1)
    } catch (error) {
      if (!isFault(error) || !verdicts.includes(error.code)) throw error
      io.err.write(faultLine(error))
      return Promise.resolve(1)
    }
  },
}
