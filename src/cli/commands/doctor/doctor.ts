import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { NodeOptions } from '#node/nodeOptions'
import { checkBeacon } from '../../checks/beacon.ts'
import { clockFindings } from '../../checks/clockSkew.ts'
import { checkDisk } from '../../checks/disk.ts'
import { type Finding, printFindings } from '../../checks/finding.ts'
import { checkL1 } from '../../checks/l1.ts'
import { machineFindings, readMachine } from '../../checks/machine.ts'
import { checkPeers } from '../../checks/peers.ts'
import { checkPlace, existingAbove } from '../../checks/place.ts'
import { checkPorts } from '../../checks/ports.ts'
import { endpointsOf, type ProbeDeps } from '../../checks/probe.ts'
import { checkProtocolVersion } from '../../checks/protocolVersion.ts'
import { checkRunning } from '../../checks/runningNode.ts'
import { checkSettings } from '../../checks/settings.ts'
import type { CommandBody } from '../../command.ts'
import { type FlagName, flags, type RawFlags } from '../../flags.ts'
import { addressFlags, nodeAddressOf } from '../../localNode/nodeAddress.ts'
import { sendByHttp } from '../../localNode/sendByHttp.ts'
import { nodeFlags } from '../../nodeOptions.ts'
import { readFlags } from '../../readFlags.ts'

const names = [...addressFlags, 'json'] as const satisfies readonly FlagName[]

/** Time of all requests together. The test of the disk takes three seconds at most after them, the start of the program one. */
const requestsMs = 15_000

type Report = { readonly findings: readonly Finding[]; readonly looked: readonly string[] }

/** Checks L1 and the parts that depend on it: beacon API, clock, published forks. */
async function l1Report(deps: ProbeDeps, { config, datadir, l1 }: NodeOptions): Promise<Report> {
  if (l1 === undefined) return { findings: [], looked: [] }
  const needsHistory = !existsSync(join(datadir, 'chain'))
  const report = await checkL1(deps, endpointsOf(l1.rpcUrls), config, needsHistory)
  const [first] = report.usable
  const [ofBeacon, ofVersion] = await Promise.all([
    checkBeacon(deps, endpointsOf(l1.beaconUrls), first, { l1ChainId: config.l1ChainId, slotSec: l1.slotSec }),
    first ? checkProtocolVersion(deps, first, config) : [],
  ])
  const skews = report.usable.flatMap(({ skewMs }) => (skewMs === undefined ? [] : [skewMs]))
  const looked = [
    'L1 endpoints',
    ...(l1.beaconUrls.length > 0 ? ['beacon API'] : []),
    ...(first ? ['protocol version'] : []),
    ...(skews.length > 0 ? ['clock'] : []),
  ]
  return { findings: [...report.findings, ...ofBeacon, ...clockFindings(skews), ...ofVersion], looked }
}

/** Checks the machine and the network for a node with these options. */
async function optionsReport(deps: ProbeDeps, options: NodeOptions, isRunning: boolean): Promise<Report> {
  const [ofL1, ofPeers, ofPorts] = await Promise.all([l1Report(deps, options), checkPeers(deps, options), checkPorts(options, isRunning)])
  const place = existingAbove(options.datadir)
  const ofPlace = checkPlace(options)
  // a test file needs a directory that can be written
  const ofDisk = ofPlace.some(({ level }) => level === 'error') ? [] : checkDisk(deps.clock, place)
  return {
    findings: [...ofL1.findings, ...ofPeers, ...ofPorts, ...ofPlace, ...ofDisk],
    looked: [...ofL1.looked, 'other nodes', 'ports', 'data directory', 'disk'],
  }
}

/** Returns whether a setting of a chain or of L1 is given: without any, only the machine and a running node can be checked. */
function hasSettings(raw: RawFlags, env: NodeJS.ProcessEnv): boolean {
  const telling = ['network', 'rollup.config', 'genesis', 'l1.rpc', 'source.l2.rpc', 'engine'] as const
  return telling.some(
    (flag) => raw[flag] !== undefined || [flags[flag].env, ...flags[flag].aliases.map(({ name }) => name)].some((name) => env[name]),
  )
}

export const doctor: CommandBody = {
  flags: names,
  nodeFlags,
  masksSecrets: true,
  async run(io, raw): Promise<number> {
    const given = readFlags(names, raw, io.env)
    // each request has its own connection: none fails because a server has closed an idle one
    const deps = { fetch: sendByHttp, clock: io.clock, signal: io.signal, untilMs: io.clock.elapsedMs() + requestsMs }
    const running = await checkRunning(deps, nodeAddressOf(given, io.env, raw))
    const isGuessing = running.isRunning && !hasSettings(raw, io.env)
    const settings = isGuessing ? undefined : checkSettings(raw, io.env, io.clock.nowMs())
    const report = settings?.options ? await optionsReport(deps, settings.options, running.isRunning) : { findings: [], looked: [] }
    const ofMachine = machineFindings(readMachine(), settings?.options?.memoryMaxBytes)
    return printFindings(
      io,
      given.json,
      [...(settings?.findings ?? []), ...running.findings, ...report.findings, ...ofMachine],
      [...(settings ? ['settings'] : []), ...(running.isRunning ? ['running node'] : []), ...report.looked, 'machine'],
    )
  },
}
