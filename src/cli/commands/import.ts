import { importFile } from '#node/importFile'
import { readGenesisFile } from '../chosenChain.ts'
import type { Command } from '../command.ts'
import { datadirOf } from '../datadir.ts'
import { cliFault } from '../faults.ts'
import { readFileText } from '../files.ts'
import { type FlagName, flags } from '../flags.ts'
import { createLiveLine, openLog, printResult } from '../output.ts'
import { readFlags } from '../readFlags.ts'

const names = ['genesis', 'datadir', 'log.level', 'log.format', 'json'] as const satisfies readonly FlagName[]

export const importBlocks: Command = {
  name: 'import',
  doc: 'execute payloads out of a file, one a line, on top of a data directory',
  argument: { name: 'FILE', doc: 'JSON lines (or JSON lines in zstd) of {"p": execution payload, "root": parent beacon block root}' },
  flags: names,
  async run(io, raw, path): Promise<number> {
    const given = readFlags(names, raw, io.env)
    if (given.genesis === undefined)
      throw cliFault('MISSING_FLAG', { flag: 'genesis', variable: flags.genesis.env, doc: flags.genesis.doc })
    const { genesis, warnings } = readGenesisFile(given.genesis)
    const datadir = genesis.chain === undefined ? given.datadir : datadirOf(given.datadir, genesis.chain.chainId)
    const lines = readFileText(path).split('\n')
    const total = lines.filter((text) => text.trim() !== '').length
    using line = createLiveLine(io, given['log.format'] === 'pretty')
    const log = openLog(io, given['log.level'], given['log.format'], line)
    for (const warning of warnings) log.warn('the genesis file holds what is not understood', { warning })

    const startMs = io.clock.nowMs()
    let [blocks, gas] = [0, 0n]
    const { imported, skipped, head } = await importFile(
      {
        clock: io.clock,
        log,
        onBlock: (payload) => {
          blocks++
          gas += payload.gasUsed
          const seconds = Math.max(0.001, (io.clock.nowMs() - startMs) / 1000)
          const left = Math.ceil(((total - blocks) * seconds) / blocks)
          line.show(`block ${payload.blockNumber}  ${blocks}/${total}  ${(Number(gas) / 1e6 / seconds).toFixed(1)} Mgas/s  ${left} s left`)
        },
      },
      { genesis, datadir, lines: untilAborted(lines, io.signal) },
    )
    line.end()
    const seconds = Math.max(0.001, (io.clock.nowMs() - startMs) / 1000)
    printResult(io, given.json, {
      imported,
      alreadyThere: skipped,
      head: head.number,
      hash: head.hash,
      gas: Number(gas),
      seconds: Number(seconds.toFixed(3)),
      megagasPerSecond: Number((Number(gas) / 1e6 / seconds).toFixed(1)),
    })
    return io.signal.aborted ? 130 : 0
  },
}

function* untilAborted(lines: readonly string[], signal: AbortSignal): Iterable<string> {
  for (const line of lines) {
    if (signal.aborted) return
    yield line
  }
}
