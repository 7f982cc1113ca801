#include "ui/rotation/rotation_page.h"

#include <QFormLayout>
#include <QHeaderView>
#include <QSplitter>
#include <cmath>

#include "core/runs/text.h"

namespace roper {
namespace {

constexpr int kSliderTop = 512;
constexpr int kFrame_ms = 33;

}  // namespace

RotationPage::RotationPage(Selection& selection, QWidget* parent)
    : Page(tr("Rotation"),
           tr("Each pair of features turns by its position times its own frequency. Drag the arrow, move the "
              "position, "
              "click a dial."),
           parent),
      state_(selection, this),
      circle_(new CircleView(state_, this)),
      dials_(new DialsView(state_, this)),
      bars_(new BarsView(state_, this)),
      worked_(new WorkedExamplePanel(state_, this)),
      lower_(new QTabWidget) {
    auto* upper = new QSplitter(Qt::Horizontal);
    upper->addWidget(circle_);
    upper->addWidget(dials_);
    upper->setStretchFactor(0, 3);
    upper->setStretchFactor(1, 2);
    lower_->addTab(bars_, tr("Vector"));
    lower_->addTab(worked_, tr("Worked example"));
    auto* pictures = new QSplitter(Qt::Vertical);
    pictures->addWidget(upper);
    pictures->addWidget(lower_);
    upper->setSizes({520, 380});
    pictures->setSizes({470, 250});
    pictures->setStretchFactor(0, 1);
    for (QSplitter* splitter : {upper, pictures})
        splitter->setChildrenCollapsible(false);

    auto* row = new QHBoxLayout;
    row->addWidget(pictures, 1);
    row->addWidget(makeControls());
    contents()->addLayout(row);

    for (FigureView* view : {static_cast<FigureView*>(circle_), static_cast<FigureView*>(dials_),
                             static_cast<FigureView*>(bars_)})
        connect(view, &FigureView::pointed, this, [this](const QString& text) { setReadout(text); });
    connect(&state_, &RotationState::changed, this, &RotationPage::showState);
    connect(&timer_, &QTimer::timeout, this, &RotationPage::advance);
    showState();
}

std::vector<const Figure*> RotationPage::figures() const {
    return {circle_, dials_, bars_, &worked_->view()};
}

QWidget* RotationPage::makeControls() {
    const auto change = [this](auto set) {
        return [this, set](auto value) {
            if (showing_) return;
            Setup setup = state_.setup();
            set(setup, value);
            state_.selection().set(setup);
            showState();  // also where the selection took another value than was asked for
        };
    };
    position_ = new QDoubleSpinBox;
    position_->setRange(-100000, 100000);
    position_->setDecimals(2);
    connect(position_, &QDoubleSpinBox::valueChanged, this,
            change([](Setup& s, double v) { s.position = v; }));
    position_slider_ = new QSlider(Qt::Horizontal);
    position_slider_->setRange(0, kSliderTop);
    connect(position_slider_, &QSlider::valueChanged, this, change([](Setup& s, int v) { s.position = v; }));
    play_ = new QPushButton(tr("Play"));
    play_->setCheckable(true);
    connect(play_, &QPushButton::clicked, this, &RotationPage::togglePlay);
    speed_ = new QDoubleSpinBox;
    speed_->setRange(0.1, 500);
    speed_->setValue(2);
    speed_->setSuffix(tr(" positions/s"));
    pair_ = new QSpinBox;
    connect(pair_, &QSpinBox::valueChanged, this, change([](Setup& s, int v) { s.pair = v; }));
    head_dim_ = new QSpinBox;
    head_dim_->setRange(2, 256);
    head_dim_->setSingleStep(2);
    connect(head_dim_, &QSpinBox::valueChanged, this, change([](Setup& s, int v) { s.head_dim = v; }));
    base_ = new NumberEdit(1.01, 1e9);
    connect(base_, &NumberEdit::edited, this, change([](Setup& s, double v) { s.base = v; }));
    schedule_ = new QComboBox;
    schedule_->addItem(tr("standard  b^(−2i/d)"), static_cast<int>(Schedule::standard));
    schedule_->addItem(tr("intro  b^(−i/d)"), static_cast<int>(Schedule::intro));
    connect(schedule_, &QComboBox::currentIndexChanged, this,
            change([](Setup& s, int v) { s.schedule = static_cast<Schedule>(v); }));
    pairing_ = new QComboBox;
    pairing_->addItem(tr("half-split  (i, i+d/2)"), static_cast<int>(Pairing::half));
    pairing_->addItem(tr("interleaved  (2i, 2i+1)"), static_cast<int>(Pairing::interleaved));
    connect(pairing_, &QComboBox::currentIndexChanged, this,
            change([](Setup& s, int v) { s.pairing = static_cast<Pairing>(v); }));

    // A number counts when it is whole: on the way to 32, a 3 must not cut the vector.
    for (QAbstractSpinBox* box :
         {static_cast<QAbstractSpinBox*>(position_), static_cast<QAbstractSpinBox*>(pair_),
          static_cast<QAbstractSpinBox*>(head_dim_)})
        box->setKeyboardTracking(false);

    auto* form = new QFormLayout;
    form->setRowWrapPolicy(QFormLayout::WrapAllRows);
    const auto add = [&](const QString& label, QWidget* widget, const QString& help) {
        widget->setAccessibleName(label);
        widget->setToolTip(help);
        form->addRow(label, widget);
    };
    add(tr("Position m"), position_, tr("← → step by one, Shift by ten, Home returns to 0"));
    add(tr("Position, by hand"), position_slider_, tr("Drag through positions 0 to 512"));
    add(tr("Speed"), speed_, tr("How fast the position moves while playing"));
    form->addRow(play_);
    play_->setToolTip(tr("Space"));
    add(tr("Pair i"), pair_, tr("The pair in the large circle; a click on a dial selects it too"));
    add(tr("Head width d"), head_dim_, tr("Features of one head, even"));
    add(tr("Base b"), base_, tr("10000 in the source; larger bases turn the slow pairs slower"));
    add(tr("Schedule"), schedule_, tr("How the frequency falls from pair to pair"));
    add(tr("Pairing"), pairing_, tr("Which two features turn together"));
    form->addRow(tr("Vector x"), makeVectorTable());

    auto* controls = new QWidget;
    controls->setLayout(form);
    controls->setFixedWidth(230);
    return controls;
}

QWidget* RotationPage::makeVectorTable() {
    vector_ = new QTableWidget(0, 1);
    vector_->horizontalHeader()->hide();
    vector_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    vector_->verticalHeader()->setDefaultSectionSize(22);
    vector_->setAccessibleName(tr("Vector x, one feature a row"));
    vector_->setMinimumHeight(110);
    connect(vector_, &QTableWidget::cellChanged, this, [this](int row, int) {
        if (showing_) return;
        const auto value = parseNumber(vector_->item(row, 0)->text().trimmed().toStdString());
        if (value && std::isfinite(*value) && std::abs(*value) <= 1e6)
            state_.setFeature(row, *value);
        else
            refuseFeature(row);
    });
    return vector_;
}

/// What cannot be read is said and put back.
void RotationPage::refuseFeature(int row) {
    setReadout(tr("x%1 must be a number between −1000000 and 1000000, not “%2”; the old one stays")
                   .arg(row)
                   .arg(vector_->item(row, 0)->text()));
    showVector();
}

void RotationPage::showState() {
    showing_ = true;
    const Setup& setup = state_.setup();
    position_->setValue(setup.position);
    position_slider_->setValue(static_cast<int>(std::lround(setup.position)));
    pair_->setRange(0, setup.head_dim / 2 - 1);
    pair_->setValue(setup.pair);
    head_dim_->setValue(setup.head_dim);
    base_->setValue(setup.base);
    schedule_->setCurrentIndex(static_cast<int>(setup.schedule));
    pairing_->setCurrentIndex(static_cast<int>(setup.pairing));
    showing_ = false;
    showVector();
    setReadout({});  // what stood there was of the state before
    emit explanationChanged();
}

void RotationPage::showVector() {
    showing_ = true;
    vector_->setRowCount(static_cast<int>(state_.x().size()));
    for (int row = 0; row < vector_->rowCount(); ++row) {
        const QString text = QString::number(state_.x()[row], 'g', 6);
        if (vector_->item(row, 0) == nullptr) {
            vector_->setItem(row, 0, new QTableWidgetItem(text));
            vector_->setVerticalHeaderItem(row, new QTableWidgetItem(QStringLiteral("x%1").arg(row)));
        } else if (vector_->item(row, 0)->text() != text) {
            vector_->item(row, 0)->setText(text);
        }
    }
    showing_ = false;
}

void RotationPage::addActions(Actions& actions) {
    const QString group = tr("Rotation");
    actions.add(group, tr("Play or pause"), Qt::Key_Space, [this] { play_->click(); });
    actions.add(group, tr("Next position"), Qt::Key_Right, [this] { step(1); });
    actions.add(group, tr("Previous position"), Qt::Key_Left, [this] { step(-1); });
    actions.add(group, tr("Ten positions on"), Qt::SHIFT | Qt::Key_Right, [this] { step(10); });
    actions.add(group, tr("Ten positions back"), Qt::SHIFT | Qt::Key_Left, [this] { step(-10); });
    actions.add(group, tr("Position 0"), Qt::Key_Home, [this] { step(-state_.setup().position); });
    actions.add(group, tr("Worked example: “cat” at position 3"), {}, [this] {
        state_.loadIntroExample();
        showWorkedExample(1);
    });
    actions.add(group, tr("Next step of the worked example"), Qt::Key_PageDown,
                [this] { showWorkedExample(worked_->view().step() + 1); });
    actions.add(group, tr("Previous step of the worked example"), Qt::Key_PageUp,
                [this] { worked_->view().setStep(worked_->view().step() - 1); });
}

void RotationPage::showWorkedExample(int step) {
    lower_->setCurrentWidget(worked_);
    worked_->view().setStep(step);
}

void RotationPage::step(double positions) {
    Setup setup = state_.setup();
    setup.position = std::round(setup.position + positions);
    state_.selection().set(setup);
}

void RotationPage::togglePlay() {
    if (play_->isChecked()) {
        timer_.start(kFrame_ms);
    } else {
        timer_.stop();
        step(0);  // a position between two tokens has no token
    }
    play_->setText(play_->isChecked() ? tr("Pause") : tr("Play"));
}

void RotationPage::advance() {
    Setup setup = state_.setup();
    setup.position += speed_->value() * kFrame_ms / 1000.0;
    state_.selection().set(setup);
}

QString RotationPage::explanation() const {
    const Setup& setup = state_.setup();
    const Rotary rotary = setup.rotary();
    const auto [first, second] = rotary.features(setup.pair);
    const double theta = rotary.theta[setup.pair];
    const QString formula = setup.schedule == Schedule::standard ? QStringLiteral("b<sup>−2i/d</sup>")
                                                                 : QStringLiteral("b<sup>−i/d</sup>");
    return tr("<h3>One pair, turned</h3>"
              "<p>θ<sub>i</sub> = %1 with b = %2, d = %3, i = %4:<br><b>θ<sub>%4</sub> = %5</b> rad a "
              "position</p>"
              "<p>At position m = %6 the pair (x<sub>%7</sub>, x<sub>%8</sub>) turns by mθ = <b>%9</b> "
              "rad:</p>")
               .arg(formula)
               .arg(setup.base)
               .arg(setup.head_dim)
               .arg(setup.pair)
               .arg(theta, 0, 'g', 6)
               .arg(setup.position)
               .arg(first)
               .arg(second)
               .arg(setup.position * theta, 0, 'f', 4) +
           tr("<p>x′<sub>%1</sub> = x<sub>%1</sub> cos mθ − x<sub>%2</sub> sin mθ<br>"
              "x′<sub>%2</sub> = x<sub>%1</sub> sin mθ + x<sub>%2</sub> cos mθ</p>"
              "<p>The length of the pair stays; at m = 0 nothing turns; R(m)R(n) = R(m+n), so a product of a "
              "query "
              "turned by m and a key turned by n depends on m − n alone.</p>"
              "<p><i>Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021</i></p>")
               .arg(first)
               .arg(second);
}

}  // namespace roper
