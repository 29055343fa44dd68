import { deliverCall } from './calls.ts'
import { deliverCreate, depositCode } from './create.ts'
import { type Frame, halt, refill } from './frame.ts'
import { closeFrame, type Ended, type Machine } from './machine.ts'

/** Gas between interrupt checks. A million gas would take 0.1 s in this interpreter. */
const pieceGas = 100_000
const pieceInstructions = 10_000

function keepPace(machine: Machine): void {
  machine.untilPace = pieceInstructions
  machine.interruptCheck?.(pieceGas)
}

/** Runs one frame until it ends or waits for a frame it called. */
function runFrame(frame: Frame, machine: Machine): void {
  const { run, gas, atLeast, atMost } = machine.operations
  const { bytes } = frame.code
  while (frame.state === 'running') {
    if (--machine.untilPace < 0) keepPace(machine)
    const opcode = bytes[frame.pc] as number
    const { sp } = frame
    if (sp < (atLeast[opcode] as number) || sp > (atMost[opcode] as number)) {
      halt(frame, sp < (atLeast[opcode] as number) ? 'stack underflow' : 'stack overflow')
      return
    }
    frame.pc++
    frame.gas -= gas[opcode] as number
    if (frame.gas < 0 && !refill(frame)) return
    ;(run[opcode] as (typeof run)[number])(frame, machine)
  }
}

function endOf(machine: Machine, frame: Frame): Ended {
  if (frame.kind === 'create' && frame.state === 'success') depositCode(machine, frame)
  closeFrame(machine, frame)
  const { gas, reserve, output } = frame
  const state = frame.state as Ended['state']
  return { state, gas, reserve, output, ...(frame.kind === 'create' && state === 'success' && { created: frame.self.address }) }
}

/** Runs a message and all its calls without recursion, so call depth does not use the JavaScript stack. */
export function interpret(machine: Machine, first: Frame): Ended {
  const { frames } = machine
  frames.push(first)
  for (;;) {
    const frame = frames[frames.length - 1] as Frame
    runFrame(frame, machine)
    if (frame.state === 'waiting') continue
    frames.pop()
    const ended = endOf(machine, frame)
    const parent = frames[frames.length - 1]
    if (!parent) return ended
    parent.state = 'running'
    if (frame.kind === 'create') deliverCreate(parent, ended)
    else deliverCall(parent, ended, frame.outputTo, frame.outputSize)
  }
}
