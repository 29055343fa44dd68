import { type Json, listOf } from '#types/jsonShape'
import type { CommandBody } from '../../command.ts'
import { exitCodes } from '../../exitCodes.ts'
import type { FlagName } from '../../flags.ts'
import { addressFlags } from '../../localNode/nodeAddress.ts'
import { readFlags } from '../../readFlags.ts'
import { columns, count } from '../../textLayout.ts'
import { blockTag, clientOf, parsed } from './chainRead.ts'
import { Labels } from './labels.ts'
import { logCells, logHead } from './logView.ts'

const names = [
  ...addressFlags,
  'logs.from-block',
  'logs.to-block',
  'logs.address',
  'logs.topics',
  'lookup.limit',
  'json',
] as const satisfies readonly FlagName[]

/** Returns the topics of a filter: null for any, a list for alternatives. */
const topicsOf = (text: string): readonly unknown[] =>
  text.split(',').map((topic) => {
    if (topic === '') return null
    return topic.includes('|') ? topic.split('|') : topic
  })

export const logs: CommandBody = {
  flags: names,
  masksSecrets: true,
  async run(io, raw): Promise<number> {
    const given = readFlags(names, raw, io.env)
    const client = clientOf(io, given)
    const { 'logs.address': address, 'logs.topics': topics, 'lookup.limit': limit } = given
    const filter = {
      fromBlock: blockTag(given['logs.from-block'], 'from-block'),
      toBlock: blockTag(given['logs.to-block'], 'to-block'),
      ...(address && { address }),
      ...(topics !== undefined && { topics: topicsOf(topics) }),
    }
    const result = await client.call('eth_getLogs', [filter])
    const found = parsed(client, () => listOf(result, 'logs')) as readonly Json[]
    const shown = found.slice(0, limit)
    if (given.json) {
      io.out.write(`${JSON.stringify({ count: found.length, logs: shown })}\n`)
      return exitCodes.done
    }
    const labels = await Labels.of(
      client,
      shown.map((log) => log['address']),
    )
    io.out.write(columns([logHead, ...shown.map((log) => logCells(log, labels))]))
    io.out.write(`${count(found.length)} logs${found.length > shown.length ? `, ${count(shown.length)} shown: --limit` : ''}\n`)
    return exitCodes.done
  },
}
