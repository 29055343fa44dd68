import { objectOf } from '#types/jsonShape'
import type { Command, CommandBody, Io } from '../../command.ts'
import { exitCodes } from '../../exitCodes.ts'
import { cliFault } from '../../faults.ts'
import type { FlagName, RawFlags } from '../../flags.ts'
import { callOperator, operatorFlags } from '../../localNode/operatorClient.ts'
import { readFlags } from '../../readFlags.ts'
import { count } from '../../textLayout.ts'

const cpuFlags = [...operatorFlags, 'profile.thread', 'profile.seconds', 'json'] as const satisfies readonly FlagName[]
const heapFlags = [...cpuFlags, 'profile.snapshot'] as const satisfies readonly FlagName[]

const pollMs = 250

/** Takes a profile, and waits until its file is written. */
async function take(io: Io, raw: RawFlags, kind: 'cpu' | 'heap' | 'snapshot'): Promise<number> {
  const given = readFlags(cpuFlags, raw, io.env)
  const begun = objectOf(
    await callOperator(io, given, 'admin_startProfile', [kind, given['profile.thread'], given['profile.seconds']]),
    'the profile',
  )
  let profile = begun
  while (profile['state'] === 'running') {
    await io.clock.delay(pollMs, io.signal)
    profile = objectOf(await callOperator(io, given, 'admin_profile', []), 'the profile')
  }
  const { state, file, bytes, reason } = profile
  if (given.json) io.out.write(`${JSON.stringify(profile)}\n`)
  else if (state === 'done') io.out.write(`${String(file)} (${count(Number(bytes))} bytes)\n`)
  else io.err.write(`profile not written: ${String(reason)}\n`)
  return state === 'done' && file === begun['file'] ? exitCodes.done : exitCodes.failed
}

const cpu: Command = {
  name: 'cpu',
  doc: 'times of functions, as a .cpuprofile for the Performance panel of Chrome',
  flags: cpuFlags,
  masksSecrets: true,
  run: (io, raw) => take(io, raw, 'cpu'),
}

const heap: Command = {
  name: 'heap',
  doc: 'allocations by function, as a .heapprofile, or with --snapshot a .heapsnapshot, for the Memory panel of Chrome',
  flags: heapFlags,
  masksSecrets: true,
  run(io, raw): Promise<number> {
    const { 'profile.snapshot': isSnapshot } = readFlags(heapFlags, raw, io.env)
    return take(io, raw, isSnapshot ? 'snapshot' : 'heap')
  },
}

export const profile: CommandBody = {
  flags: [],
  commands: [cpu, heap],
  run: () => Promise.reject(cliFault('BAD_USAGE', { problem: 'basalt profile needs a command: cpu or heap' })),
}
