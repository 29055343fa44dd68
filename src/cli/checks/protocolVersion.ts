import { forkScheduleContractOf } from '#chainspec/networks'
import {
  decodeProtocolVersion,
  decodeSchedule,
  differsFrom,
  forkDifferences,
  isAboveKnown,
  nextUnknownFork,
  scheduleCalls,
  versionText,
} from '#chainspec/publishedSchedule'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { spanText } from '../textLayout.ts'
import type { Finding } from './finding.ts'
import type { UsableL1 } from './l1.ts'
import { type ProbeDeps, probeCall, resultOf } from './probe.ts'

const where = 'ProtocolVersions on L1'

const whenText = (activationSec: number, nowSec: number): string =>
  activationSec <= nowSec ? `active since ${spanText(nowSec - activationSec)}` : `active in ${spanText(activationSec - nowSec)}`

/** Compares the forks of this version with the schedule on L1. */
export async function checkProtocolVersion(deps: ProbeDeps, { endpoint }: UsableL1, config: RollupConfig): Promise<readonly Finding[]> {
  const contract = forkScheduleContractOf(config)
  if (contract === undefined) return []
  const call = async (data: string): Promise<unknown> =>
    resultOf(await probeCall(deps, endpoint, 'eth_call', [{ to: contract, data }, 'latest']))
  const [schedule, minimum] = await Promise.all([call(scheduleCalls.getSchedule), call(scheduleCalls.minimumProtocolVersion)])
  const times = decodeSchedule(schedule) ?? []
  const nowSec = deps.clock.nowMs() / 1_000
  const findings: Finding[] = []
  const next = nextUnknownFork(times)
  if (next) {
    const level = next.activationSec - nowSec < 7 * 86_400 ? 'error' : 'warning'
    const what = `fork ${next.fork} is unknown to this version and ${whenText(next.activationSec, nowSec)}: the node stops before its first block`
    findings.push({ level, where, what, fix: 'install a newer version before that' })
  }
  for (const difference of forkDifferences(config, times)) {
    const what = `fork ${difference.fork} has another time than in this version (rules differ ${whenText(differsFrom(difference), nowSec)})`
    findings.push({ level: 'warning', where, what, fix: 'install a version with the published time, or correct the rollup config' })
  }
  const version = decodeProtocolVersion(minimum)
  if (version && isAboveKnown(version)) {
    findings.push({
      level: 'warning',
      where,
      what: `the chain requires protocol version ${versionText(version)}`,
      fix: 'install a newer version',
    })
  }
  return findings
}
