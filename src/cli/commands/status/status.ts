import { statusFacts } from '#monitor/statusFacts'
import type { CommandBody } from '../../command.ts'
import { exitCodes } from '../../exitCodes.ts'
import type { FlagName } from '../../flags.ts'
import { addressFlags, nodeAddressOf } from '../../localNode/nodeAddress.ts'
import { checkReached, readNode } from '../../localNode/readings.ts'
import { sendByHttp } from '../../localNode/sendByHttp.ts'
import { readFlags } from '../../readFlags.ts'
import { statusText } from './statusView.ts'

const names = [...addressFlags, 'json'] as const satisfies readonly FlagName[]

export const status: CommandBody = {
  flags: names,
  masksSecrets: true,
  async run(io, raw): Promise<number> {
    const given = readFlags(names, raw, io.env)
    const address = nodeAddressOf(given, io.env)
    const readings = await readNode({ fetch: sendByHttp, clock: io.clock, signal: io.signal }, address)
    checkReached(readings, address)
    const facts = statusFacts(readings)
    io.out.write(given.json ? `${JSON.stringify(facts)}\n` : statusText(facts, readings.nowMs))
    return facts.ready === false ? exitCodes.failed : exitCodes.done
  },
}
