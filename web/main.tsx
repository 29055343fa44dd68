import { render } from 'preact'
import 'uplot/dist/uPlot.min.css'
import './page.css'
import { App } from './app.tsx'

const root = document.getElementById('page')
if (root) render(<App />, root)
